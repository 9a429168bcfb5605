import { compareIds, createFairSlots, type Turn } from '@cinnabar/sdk';

interface ChannelQueueOptions {
  /** Maximum number of channels that are answered at the same time. */
  concurrency(): Promise<number>;
  /** Whether the responder of this turn answers all waiting turns together. */
  takesBatches(turn: Turn): Promise<boolean>;
  /** Whether the turn's message was deleted, or a member stopped the turn. */
  isWithdrawn(turn: Turn): boolean;
  /** Aborts when the plugin stops; all waiting turns are then handed over at once, and get the reason. */
  readonly signal: AbortSignal;
  /** Called with every turn exactly once, oldest first; all but the last become its `earlier`. */
  answer(turns: readonly [...Turn[], Turn]): Promise<void>;
}

interface QueuedTurn {
  readonly turn: Turn;
  done(): void;
}

interface ChannelTurns {
  /** Turns that were not handed over yet, oldest first. */
  readonly items: QueuedTurn[];
  /** The members whose turns are being answered. */
  answering: readonly string[];
}

export type ChannelQueue = ReturnType<typeof createChannelQueue>;

/** Runs the turns of one channel one after another. Channels run concurrently up to a limit; above it, guilds take turns. */
export function createChannelQueue({ concurrency, takesBatches, isWithdrawn, signal, answer }: ChannelQueueOptions) {
  const channels = new Map<string, ChannelTurns>();
  let total = 1;
  const slots = createFairSlots(() => ({ total, perGuild: mostOfOneGuild(total) }));

  const inSlot = async (channelId: string, { turn }: QueuedTurn, task: () => Promise<void>) => {
    total = await concurrency().catch(() => total);
    // Direct messages count as one guild.
    await slots.acquire({ id: channelId, guild: turn.actor.guildId ?? 'direct', member: turn.actor.userId });
    try {
      await task();
    } finally {
      slots.release(channelId);
    }
  };

  const takeBatch = async (items: QueuedTurn[]): Promise<readonly QueuedTurn[]> => {
    const first = items[0];
    // When the turn is answered, the same error occurs again, and is reported.
    const together = first !== undefined && (await takesBatches(first.turn).catch(() => false));
    return items.splice(0, together ? leading(items) : 1);
  };
  const serveOnce = async (channel: ChannelTurns) => {
    const batch = await takeBatch(channel.items);
    channel.answering = batch.map(({ turn }) => turn.actor.userId);
    const turns = batch.map(({ turn }) => turn).filter((turn) => !isWithdrawn(turn));
    try {
      if (isSome(turns)) await answer(turns);
    } finally {
      channel.answering = [];
      for (const { done } of batch) done();
    }
  };
  const serve = async (channelId: string, channel: ChannelTurns) => {
    for (let [first] = channel.items; first !== undefined; [first] = channel.items) {
      await inSlot(channelId, first, () => serveOnce(channel)).catch(() => undefined);
    }
    channels.delete(channelId);
  };

  const answerNow = async ({ turn, done }: QueuedTurn) => {
    if (!isWithdrawn(turn)) await answer([turn]);
    done();
  };
  signal.addEventListener('abort', () => {
    for (const { items } of channels.values()) for (const item of items.splice(0)) void answerNow(item);
  });

  return {
    /** Number of waiting turns in the channel, without running ones. */
    waiting(channelId: string): number {
      const channel = channels.get(channelId);
      if (channel === undefined) return 0;
      const waiting = channel.items.filter(({ turn }) => !isWithdrawn(turn)).length;
      // The first turn is about to be handed over.
      return isUnderWay(channel) ? waiting : Math.max(0, waiting - 1);
    },
    /** How many turns of a member wait in the channel. */
    waitingOf: (channelId: string, userId: string) =>
      itemsOf(channels.get(channelId), userId).filter(({ turn }) => !isWithdrawn(turn)).length,
    /** Number of other channels in which the member has a waiting or running turn. */
    elsewhere: (channelId: string, userId: string) =>
      [...channels].filter(
        ([id, channel]) =>
          id !== channelId && (channel.answering.includes(userId) || itemsOf(channel, userId).length > 0),
      ).length,
    /** Whether a new turn of the channel would have to wait. */
    busy: (channelId: string) => channels.has(channelId),
    /** Totals: waiting turns, and channels with a running turn. */
    totals(): { readonly waiting: number; readonly answering: number } {
      const all = [...channels.values()];
      return {
        waiting: all.reduce((sum, { items }) => sum + items.length, 0),
        answering: all.filter(isUnderWay).length,
      };
    },
    /** Answers `turn` after earlier ones, alone or together with others. Resolves when it was answered or withdrawn; never rejects. */
    run: (turn: Turn) =>
      new Promise<void>((done) => {
        if (signal.aborted) {
          void answerNow({ turn, done });
          return;
        }
        const channelId = turn.channel.id;
        const channel = channels.get(channelId);
        if (channel !== undefined) {
          channel.items.splice(placeOf(turn, channel.items), 0, { turn, done });
          return;
        }
        const opened: ChannelTurns = { items: [{ turn, done }], answering: [] };
        channels.set(channelId, opened);
        void serve(channelId, opened);
      }),
  };
}

const SHARE_OF_ONE_GUILD = 0.75;

function mostOfOneGuild(slots: number): number {
  return Math.ceil(slots * SHARE_OF_ONE_GUILD);
}

const isUnderWay = ({ answering }: ChannelTurns) => answering.length > 0;

function itemsOf(channel: ChannelTurns | undefined, userId: string): readonly QueuedTurn[] {
  return (channel?.items ?? []).filter(({ turn }) => turn.actor.userId === userId);
}

/** The index of a turn by the time of its message: a command takes longer to arrive here than a mention. */
function placeOf({ message }: Turn, items: readonly QueuedTurn[]): number {
  if (message === null) return items.length;
  return items.findLastIndex(({ turn }) => turn.message === null || compareIds(turn.message.id, message.id) < 0) + 1;
}

/** Number of turns that are answered together. A slash command has its own pending answer, so it is never combined with others. */
function leading(items: readonly QueuedTurn[]): number {
  const slash = items.findIndex(({ turn }) => turn.message === null);
  return slash < 0 ? items.length : Math.max(1, slash);
}

function isSome(turns: readonly Turn[]): turns is readonly [...Turn[], Turn] {
  return turns.length > 0;
}
