import { UserError } from '@cinnabar/sdk';
import type { AnyThreadChannel, Channel } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { demand, may, READING } from './may.js';
import { placeOf } from './places.js';
import { channelsWith } from './visible-channels.js';

interface Wanted {
  readonly archived: boolean;
  readonly limit: number;
}

/** The threads of a channel that whoever calls can see, the newest first: private ones only to who is in them, or manages them. */
export async function threadsIn(
  parts: Parts,
  caller: Caller,
  channel: Channel,
  { archived, limit }: Wanted,
): Promise<readonly AnyThreadChannel[]> {
  if (channel.isDMBased() || !('threads' in channel))
    throw new UserError('There are no threads in a channel of this kind.');
  const { threads } = channel;
  const found: AnyThreadChannel[] = [...(await threads.fetchActive()).threads.values()];
  if (archived) {
    found.push(...(await threads.fetchArchived({ type: 'public', limit })).threads.values());
    // Discord shows all private ones to who manages threads; to the bot, too.
    if (!channel.isThreadOnly() && (await may(parts, caller, placeOf(channel), ['ManageThreads'], ['ManageThreads']))) {
      found.push(...(await threads.fetchArchived({ type: 'private', limit })).threads.values());
    }
  }
  found.sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1));
  const seen = await channelsWith(parts, caller, found, READING);
  return seen.flatMap((thread) => (thread.isThread() ? [thread] : [])).slice(0, limit);
}

/** For whom a thread is to change: who had it made, whoever started it themselves, and who manages threads. @throws UserError */
export async function requireThreadRights(parts: Parts, caller: Caller, thread: AnyThreadChannel): Promise<void> {
  if (await isTheirs(parts, caller, thread)) await requireUnlocked(parts, caller, thread);
  else await demand(parts, caller, placeOf(thread), 'ManageThreads');
}

/** To the bot, as to moderators, a locked thread is open. It is not for everybody who asks. @throws UserError */
export async function requireUnlocked(parts: Pick<Parts, 'access'>, caller: Caller, channel: Channel): Promise<void> {
  if (channel.isThread() && channel.locked === true) await demand(parts, caller, placeOf(channel), 'ManageThreads');
}

async function isTheirs({ sent }: Parts, { actor }: Caller, { id, ownerId }: AnyThreadChannel): Promise<boolean> {
  return ownerId === actor.userId || (await sent.whose(id, id, actor)) === 'own';
}
