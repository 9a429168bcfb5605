import type { Turn } from '@cinnabar/sdk';
import PQueue from 'p-queue';

/** Turns of one channel follow one another; channels do not wait for each other while there is room. */
export interface ChannelQueue {
  /** How many wait in the channel, beside those under way. */
  waiting(channelId: string): number;
  /** Whether a turn of the channel would have to wait. */
  busy(channelId: string): boolean;
  /** In all channels: turns that wait, and channels in which one is being answered. */
  totals(): { readonly waiting: number; readonly answering: number };
  /** Answers `turn` after those before it, alone or with others. Resolves when it has been, or when it was withdrawn; never rejects. */
  run(turn: Turn): Promise<void>;
}

export interface ChannelQueueParts {
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
  underWay: boolean;
}

export function createChannelQueue({
  concurrency,
  takesBatches,
  isWithdrawn,
  signal,
  answer,
}: ChannelQueueParts): ChannelQueue {
  const lines = new Map<string, Line>();
  const slots = new PQueue();
  /** So that answers that hang in one guild leave others room. Direct messages count as one guild. */
  const slotsOf = new Map<string, PQueue>();

  const inSlot = async (guildId: string | null, task: () => Promise<void>) => {
    slots.concurrency = await concurrency().catch(() => slots.concurrency);
    const key = guildId ?? 'direct';
    const own = slotsOf.get(key) ?? new PQueue();
    slotsOf.set(key, own);
    own.concurrency = mostOfOneGuild(slots.concurrency);
    try {
      await own.add(() => slots.add(task));
    } finally {
      if (own.size === 0 && own.pending === 0) slotsOf.delete(key);
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
    line.underWay = true;
    const turns = batch.map(({ turn }) => turn).filter((turn) => !isWithdrawn(turn));
    try {
      if (isSome(turns)) await answer(turns);
    } finally {
      line.underWay = false;
      for (const { done } of batch) done();
    }
  };
  const serve = async (channelId: string, line: Line) => {
    while (line.items.length > 0) {
      const guildId = line.items[0]?.turn.actor.guildId ?? null;
      await inSlot(guildId, () => serveOnce(line)).catch(() => undefined);
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
      return line.underWay ? waiting : Math.max(0, waiting - 1);
    },
    busy: (channelId) => lines.has(channelId),
    totals() {
      const all = [...lines.values()];
      return {
        waiting: all.reduce((sum, { items }) => sum + items.length, 0),
        answering: all.filter(({ underWay }) => underWay).length,
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
        const opened: Line = { items: [{ turn, done }], underWay: false };
        lines.set(channelId, opened);
        void serve(channelId, opened);
      }),
  };
}

const SHARE_OF_ONE_GUILD = 0.75;

function mostOfOneGuild(slots: number): number {
  return Math.ceil(slots * SHARE_OF_ONE_GUILD);
}

/** In the order in which the messages were written: a command takes a little longer to get here than a mention. */
function placeOf({ message }: Turn, items: readonly Item[]): number {
  if (message === null) return items.length;
  return items.findLastIndex(({ turn }) => turn.message === null || isOlder(turn.message.id, message.id)) + 1;
}

/** By snowflake: a longer number is a later one. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** A slash command has an answer of its own to wait for, so it stands alone. */
function leading(items: readonly Item[]): number {
  const slash = items.findIndex(({ turn }) => turn.message === null);
  return slash < 0 ? items.length : Math.max(1, slash);
}

function isSome(turns: readonly Turn[]): turns is readonly [...Turn[], Turn] {
  return turns.length > 0;
}
