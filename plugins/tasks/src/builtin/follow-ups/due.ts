import { type Actor, type Clock, type Logger, sentenceOf, type Tasks } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { dropFollowUp, type FollowUp, type FollowUpStore } from './store.js';

export interface DueParts {
  readonly store: FollowUpStore;
  readonly tasks: Pick<Tasks, 'start' | 'list'>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

const originOf = ({ id }: FollowUp) => `follow-up ${id}`;

/**
 * Starts the tasks of the follow-ups that are due. Each is marked before its task is started and taken away after: one that was marked by a
 * process that died is started only if its task is not there.
 */
export async function startDue(parts: DueParts): Promise<void> {
  const { store, clock } = parts;
  const due: (readonly [userId: string, FollowUp])[] = [];
  for await (const [userId, { planned }] of store.entries()) {
    for (const one of planned) if (one.dueAt <= clock.now()) due.push([userId, one]);
  }
  for (const [userId, one] of due) await startOne(userId, one, parts);
}

async function startOne(userId: string, one: FollowUp, parts: DueParts): Promise<void> {
  const { store, tasks, log } = parts;
  const { guildId, channelId, goal } = one;
  const actor: Actor = { userId, guildId, channelId };
  try {
    const begun =
      one.starting && (await tasks.list({ guildId, userId })).some(({ origin }) => origin === originOf(one));
    if (!begun) {
      await store.of(userId).update((draft) => {
        for (const planned of draft.planned) if (planned.id === one.id) planned.starting = true;
      });
      await tasks.start({ prompt: goal, actor, origin: originOf(one) });
    }
  } catch (error) {
    log.warn('a follow-up could not be started', { userId, channelId, error });
    await say(parts.client, actor, sentenceOf(error));
  }
  await dropFollowUp(store, userId, one.id);
}

/** Whoever planned it learns why nothing comes of it, unless nobody can be told there. */
async function say(client: Client, { userId, channelId }: Actor, reason: string | undefined): Promise<void> {
  const channel = await client.channels.fetch(channelId).catch(() => null);
  if (channel?.isSendable() !== true) return;
  const content = `<@${userId}> I could not begin what you had planned for now. ${reason ?? 'Why is in the log.'}`;
  await channel.send({ content, allowedMentions: { users: [userId] } }).catch(() => undefined);
}
