import { type Clock, createKeyedMutex } from '@cinnabar/sdk';
import type { RelayEvent } from '../events/event.js';
import type { QueueContext } from './queue.js';
import type { ChannelQueue } from './state.js';

export type EnqueueResult =
  /** `ahead`: how many events of the channel come before it. */
  | { readonly status: 'taken'; readonly ahead: number }
  | { readonly status: 'duplicate' }
  | { readonly status: 'refused'; readonly reason: 'full' };

/** What was decided, and when it is on the disk. */
interface Decision {
  readonly result: EnqueueResult;
  readonly written: Promise<unknown>;
}

/** Adds events to the queue. Those of one channel are decided in the order of the calls, however long the settings take to be read. */
export function createEnqueue(
  { state, write, clock, rulesFor }: QueueContext,
  drops: Pick<DropNotices, 'note'>,
): (event: RelayEvent) => Promise<EnqueueResult> {
  const channelMutex = createKeyedMutex();

  const decide = async (event: RelayEvent): Promise<Decision> => {
    const { guildId, channelId } = event;
    if (state.knows(event.id)) return withoutWrite({ status: 'duplicate' });
    const rules = await rulesFor(guildId, channelId);
    // From here on nothing is awaited. The same event may have come in through another channel meanwhile.
    if (state.knows(event.id)) return withoutWrite({ status: 'duplicate' });
    const group = [...state.channels()].filter((channel) => groupOf(channel) === groupOf(event));
    const excess = group.reduce((sum, { waiting }) => sum + waiting.length, 0) + 1 - rules.maxQueueSize;
    if (excess > 0) drops.note(guildId, channelId, rules.whenFull === 'drop-oldest' ? excess : 1);
    if (excess > 0 && rules.whenFull === 'refuse-newest') return withoutWrite({ status: 'refused', reason: 'full' });
    return take(event, excess > 0 ? oldestOf(group).slice(0, excess) : []);
  };

  const take = (event: RelayEvent, dropped: readonly number[]): Decision => {
    const writes = dropped.length > 0 ? [write({ is: 'dropped', of: [...dropped] })] : [];
    const channel = state.channel(event.channelId);
    const ahead =
      channel === undefined
        ? 0
        : channel.waiting.length + channel.inFlight.reduce((sum, { entries }) => sum + entries.length, 0);
    const n = state.next();
    writes.push(write({ is: 'taken', n, at: clock.now(), event }));
    const written = Promise.all(writes).catch((error: unknown) => {
      state.withdraw(n);
      throw error;
    });
    return { result: { status: 'taken', ahead }, written };
  };

  return async (event) => {
    const { result, written } = await channelMutex.run(event.channelId, () => decide(event));
    await written;
    return result;
  };
}

const withoutWrite = (result: EnqueueResult): Decision => ({ result, written: Promise.resolve() });

/** Which events share `maxQueueSize`: those of a guild, or of one person's direct messages. */
const groupOf = ({ guildId, channelId }: { readonly guildId: string | null; readonly channelId: string }) =>
  guildId ?? channelId;

const oldestOf = (channels: readonly ChannelQueue[]) =>
  channels.flatMap(({ waiting }) => waiting.map(({ n }) => n)).sort((a, b) => a - b);

/** Events of a guild that were dropped because too many waited. */
export interface Drop {
  readonly guildId: string | null;
  /** The channel of the latest of them. */
  readonly channelId: string;
  /** How many since the last notice. */
  readonly count: number;
}

export type DropNotices = ReturnType<typeof createDropNotices>;

/** Calls `notify` for the first drop at once, and for those that follow together, once in `everyMs`. Each person's direct messages count separately. */
export function createDropNotices(clock: Clock, everyMs: number, notify: (drop: Drop) => unknown) {
  const totals = new Map<string | null, number>();
  /** Groups with a notice in the last `everyMs`, and what was dropped since. */
  const recent = new Map<string, { since: Drop | undefined; readonly stopTimer: () => void }>();

  const send = (group: string, drop: Drop) => {
    const stopTimer = clock.after(everyMs, () => {
      const since = recent.get(group)?.since;
      recent.delete(group);
      if (since !== undefined) send(group, since);
    });
    recent.set(group, { since: undefined, stopTimer });
    notify(drop);
  };

  return {
    note(guildId: string | null, channelId: string, count: number) {
      totals.set(guildId, (totals.get(guildId) ?? 0) + count);
      const group = groupOf({ guildId, channelId });
      const last = recent.get(group);
      if (last === undefined) send(group, { guildId, channelId, count });
      else last.since = { guildId, channelId, count: count + (last.since?.count ?? 0) };
    },
    /** Since this process started. */
    total: (guildId: string | null) => totals.get(guildId) ?? 0,
    stop() {
      for (const { stopTimer } of recent.values()) stopTimer();
      recent.clear();
    },
  };
}
