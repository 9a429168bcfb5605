import type { FrontDoor, PersonaTrigger } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { ReflectionState } from '../memory/types.js';
import type { RunParts } from '../running/parts.js';
import { runPersona } from '../running/run.js';
import { freeVoice } from '../speaking/voice.js';

export interface UnaskedParts extends RunParts {
  readonly frontDoor: FrontDoor | undefined;
}

/** Whether a persona answers in a channel, and may therefore act there of its own accord. */
export async function livesIn(channel: SendableChannels, { frontDoor }: UnaskedParts): Promise<boolean> {
  if (frontDoor === undefined || channel.isDMBased()) return false;
  return (await frontDoor.responderIn(channel.guild.id, channel.id)) === 'persona';
}

/** Runs a persona that nobody has asked: it has no tools, pings nobody, and what goes wrong is for the log alone. */
export async function runUnasked(
  trigger: PersonaTrigger,
  channel: SendableChannels,
  parts: UnaskedParts,
  reflection?: ReflectionState,
): Promise<void> {
  const guildId = channel.isDMBased() ? null : channel.guild.id;
  const more = reflection === undefined ? {} : { reflection };
  const occasion = {
    trigger,
    channel,
    guildId,
    actor: undefined,
    tools: [],
    voice: freeVoice(channel, parts.random),
    message: null,
    ...more,
  };
  try {
    await runPersona({ ...occasion, signal: parts.signal }, parts);
  } catch (error) {
    parts.log.info('a persona could not act of its own accord', {
      channelId: channel.id,
      trigger: trigger.type,
      error,
    });
  }
}
