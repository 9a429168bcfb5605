import { type PersonaTrigger, type ToolInfo, type Turn, UserError } from '@cinnabar/sdk';
import { answeringVoice } from '../speaking/voice.js';
import { lineOfTurn, userInput } from '../triggers/user-input.js';
import type { RunParts } from './parts.js';
import { runPersona } from './run.js';

/** Somebody said something to the persona, and may get an answer. @throws UserError, or an error of the language model, for `ai` to tell */
export async function respond(turn: Turn, parts: RunParts): Promise<void> {
  const { conversations, clock, log } = parts;
  const { channel, actor, message } = turn;
  const trigger: PersonaTrigger = userInput(turn, clock.now());
  await conversations.add(channel.id, [lineOfTurn(turn, clock.now())]);
  const { spoke, refusal } = await runPersona(
    {
      trigger,
      channel,
      guildId: actor.guildId,
      actor,
      tools: await toolsFor(turn, parts),
      voice: answeringVoice(turn),
      limits: turn.answerLimits,
      message,
      signal: turn.signal,
    },
    parts,
  );
  if (spoke) return;
  if (refusal !== undefined) throw new UserError(refusal);
  // A slash command has to be answered, or Discord shows a failure.
  if (message === null) await turn.reply({ content: '*(says nothing)*', notice: true });
  else {
    const { silentReaction } = await parts.settingsFor(actor.guildId);
    if (silentReaction === '') return;
    await message
      .react(silentReaction)
      .catch((error: unknown) => log.debug('a silent reaction was not possible', { channelId: channel.id, error }));
  }
}

/** A bot's words move nobody's rights: people may be speaking through it. */
async function toolsFor({ user, actor }: Turn, { tools }: RunParts): Promise<readonly ToolInfo[]> {
  return user.bot ? [] : tools.offered(actor);
}
