import { compareIds, createFairSlots, type Turn } from '@cinnabar/sdk';

/** Turns of one channel follow one another; channels do not wait for each other while there is room, and guilds take turns where there is none. */
export interface ChannelQueue {
  /** How many wait in the channel, beside those under way. */
  waiting(channelId: string): number;
  /** How many turns of a member wait in the channel. */
  waitingOf(channelId: string, userId: string): number;
  /** In how many other channels a turn of the member waits or is being answered. */
  elsewhere(channelId: string, userId: string): number;
  /** Whether a turn of the channel would have to wait. */
  busy(channelId: string): boolean;
  /** In all channels: turns that wait, and channels in which one is being answered. */
  totals(): { readonly waiting: number; readonly answering: number };
  /** Answers `turn` after those before it, alone or with others. Resolves when it has been, or when it was withdrawn; never rejects. */
  run(turn: Turn): Promise<void>;
}

interface ChannelQueueParts {
  /** In how many channels answers may be made at a time. */
  concurrency(): Promise<number>;
  /** Whether whoever answers this turn takes all that wait at once. */
  takesBatches(turn: Turn): Promise<boolean>;
  /** Whether nobody wants an answer any more. */
  isWithdrawn(turn: Turn): boolean;
  /** Aborts when the plugin stops: all that wait are then answered at once, with why they are not. */
  readonly signal: AbortSignal;
  /** Gets every turn exactly once, oldest first; all but the last are its `earlier`. */
  answer(turns: readonly [...Turn[], Turn]): Promise<void>;
}

interface Item {
  readonly turn: Turn;
  done(): void;
}

interface Line {
  /** Not yet handed over, oldest first. */
  readonly items: Item[];
  /** Who asked what is being answered. */
  answering: readonly string[];
}

export function createChannelQueue({
  concurrency,
  takesBatches,
  isWithdrawn,
  signal,
  answer,
}: ChannelQueueParts): ChannelQueue {
  const lines = new Map<string, Line>();
  let total = 1;
  const slots = createFairSlots(() => ({ total, perGuild: mostOfOneGuild(total) }));

  const inSlot = async (channelId: string, { turn }: Item, task: () => Promise<void>) => {
    total = await concurrency().catch(() => total);
    // Direct messages count as one guild.
    await slots.acquire({ id: channelId, guild: turn.actor.guildId ?? 'direct', member: turn.actor.userId });
    try {
      await task();
    } finally {
      slots.release(channelId);
    }
  };

  const takeBatch = async (items: Item[]): Promise<readonly Item[]> => {
    const first = items[0];
    // What cannot be told is found out, and said, when the turn is answered.
    const together = first !== undefined && (await takesBatches(first.turn).catch(() => false));
    return items.splice(0, together ? leading(items) : 1);
  };
  const serveOnce = async (line: Line) => {
    const batch = await takeBatch(line.items);
    line.answering = batch.map(({ turn }) => turn.actor.userId);
    const turns = batch.map(({ turn }) => turn).filter((turn) => !isWithdrawn(turn));
    try {
      if (isSome(turns)) await answer(turns);
    } finally {
      line.answering = [];
      for (const { done } of batch) done();
    }
  };
  const serve = async (channelId: string, line: Line) => {
    for (let [first] = line.items; first !== undefined; [first] = line.items) {
      await inSlot(channelId, first, () => serveOnce(line)).catch(() => undefined);
    }
    lines.delete(channelId);
  };

  const answerNow = async ({ turn, done }: Item) => {
    if (!isWithdrawn(turn)) await answer([turn]);
    done();
  };
  signal.addEventListener('abort', () => {
    for (const { items } of lines.values()) for (const item of items.splice(0)) void answerNow(item);
  });

  return {
    waiting(channelId) {
      const line = lines.get(channelId);
      if (line === undefined) return 0;
      const waiting = line.items.filter(({ turn }) => !isWithdrawn(turn)).length;
      // The first is about to be handed over.
      return isUnderWay(line) ? waiting : Math.max(0, waiting - 1);
    },
    waitingOf: (channelId, userId) =>
      itemsOf(lines.get(channelId), userId).filter(({ turn }) => !isWithdrawn(turn)).length,
    elsewhere: (channelId, userId) =>
      [...lines].filter(
        ([id, line]) => id !== channelId && (line.answering.includes(userId) || itemsOf(line, userId).length > 0),
      ).length,
    busy: (channelId) => lines.has(channelId),
    totals() {
      const all = [...lines.values()];
      return {
        waiting: all.reduce((sum, { items }) => sum + items.length, 0),
        answering: all.filter(isUnderWay).length,
      };
    },
    run: (turn) =>
      new Promise((done) => {
        if (signal.aborted) {
          void answerNow({ turn, done });
          return;
        }
        const channelId = turn.channel.id;
        const line = lines.get(channelId);
        if (line !== undefined) {
          line.items.splice(placeOf(turn, line.items), 0, { turn, done });
          return;
        }
        const opened: Line = { items: [{ turn, done }], answering: [] };
        lines.set(channelId, opened);
        void serve(channelId, opened);
      }),
  };
}

const SHARE_OF_ONE_GUILD = 0.75;

function mostOfOneGuild(slots: number): number {
  return Math.ceil(slots * SHARE_OF_ONE_GUILD);
}

const isUnderWay = ({ answering }: Line) => answering.length > 0;

function itemsOf(line: Line | undefined, userId: string): readonly Item[] {
  return (line?.items ?? []).filter(({ turn }) => turn.actor.userId === userId);
}

/** In the order in which the messages were written: a command takes a little longer to get here than a mention. */
function placeOf({ message }: Turn, items: readonly Item[]): number {
  if (message === null) return items.length;
  return items.findLastIndex(({ turn }) => turn.message === null || compareIds(turn.message.id, message.id) < 0) + 1;
}

/** A slash command has an answer of its own to wait for, so it stands alone. */
function leading(items: readonly Item[]): number {
  const slash = items.findIndex(({ turn }) => turn.message === null);
  return slash < 0 ? items.length : Math.max(1, slash);
}

function isSome(turns: readonly Turn[]): turns is readonly [...Turn[], Turn] {
  return turns.length > 0;
}
