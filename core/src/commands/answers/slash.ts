import type { Clock, Logger, ReplyBody } from '@cinnabar/sdk';
import { type ChatInputCommandInteraction, type Message, MessageFlags } from 'discord.js';
import type { Answers } from './answers.js';
import { asBody, type Part, partsOf } from './body.js';
import type { LostAnswers } from './lost.js';

/** Discord gives up after 3 s; this leaves one for the request. */
const AUTO_DEFER_MS = 2000;

interface Parts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly lost: LostAnswers;
  /** Whether answers are for the caller alone unless they say otherwise. */
  readonly ephemeral: boolean;
}

/** Answers to a slash command: defers by itself when nothing was said in time; the first answer fills the deferral, others follow up. */
export function answerInteraction(
  interaction: ChatInputCommandInteraction,
  { clock, log, lost, ephemeral }: Parts,
): Answers {
  let filled = false;
  let queue: Promise<unknown> = Promise.resolve();

  /** One after another: an answer never overtakes the deferral that is under way. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = queue.then(() => lost.attempt(interaction.channelId, task));
    queue = turn.catch(() => undefined);
    return turn;
  };

  const flags = (hidden: boolean) => (hidden ? ({ flags: MessageFlags.Ephemeral } as const) : {});

  const deferNow = () =>
    inTurn(async () => {
      if (!interaction.deferred && !interaction.replied) await interaction.deferReply(flags(ephemeral));
    });

  const stopWaiting = clock.after(AUTO_DEFER_MS, () => {
    deferNow().catch((error: unknown) =>
      log.warn('a slash command could not be deferred', { command: interaction.commandName, error }),
    );
  });

  const respond = async (part: Part, hidden: boolean): Promise<Message> => {
    const response = await interaction.reply({ ...part, ...flags(hidden), withResponse: true });
    return response.resource?.message ?? interaction.fetchReply();
  };

  const send = async (part: Part, hidden: boolean): Promise<Message> => {
    stopWaiting();
    if (!interaction.replied && !interaction.deferred) return respond(part, hidden);
    if (filled || !interaction.deferred) return interaction.followUp({ ...part, ...flags(hidden) });
    filled = true;
    if (interaction.ephemeral === hidden) return interaction.editReply(part);
    // A deferral cannot change who sees it, so another message takes its place.
    await interaction.deleteReply();
    return interaction.followUp({ ...part, ...flags(hidden) });
  };

  const say = (body: ReplyBody, hidden: boolean) => {
    const [first, ...others] = partsOf(body, interaction.user.id);
    return inTurn(async () => {
      let last = await send(first, hidden);
      for (const part of others) last = await send(part, hidden);
      return last;
    });
  };

  return {
    reply(reply) {
      const body = asBody(reply);
      return say(body, body.ephemeral ?? ephemeral);
    },
    defer: deferNow,
    async refuse(sentence) {
      await say({ content: sentence }, true);
    },
    async finish() {
      await queue;
      if (!filled && !interaction.replied) await say({ content: 'Done.' }, true);
    },
    close: stopWaiting,
  };
}
