import { isWebhookMessage, type Registrar } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Ask } from '../ask.js';
import { parseConfig } from './parse.js';

/** A pinned message that starts with `.config`. */
export interface Pin {
  readonly messageId: string;
  /** `null` for a webhook. */
  readonly authorId: string | null;
  readonly content: string;
  readonly editedAt: number | null;
  readonly pinnedAt: number;
}

/** The pinned `.config` messages of channels that have been asked for. */
export interface Pins {
  /** Oldest pin first. Fetched once, then kept by events; again only after something was pinned or unpinned. */
  of(channel: SendableChannels, ask: Ask): Promise<readonly Pin[]>;
}

interface Board {
  pins: Map<string, Pin>;
  /** Whether the pins are what Discord has. */
  fresh: boolean;
  /** The channel's latest pin when they were fetched: discord.js keeps it also while nobody tells this plugin. */
  latest: number | null;
  /** Rises with each event, so that a list that was under way meanwhile is not believed. */
  changes: number;
  loading: Promise<void> | undefined;
}

const REMEMBERED = 1_000;
/** Discord's own limit. */
const PAGE = 50;
const MOST_ATTEMPTS = 3;

export function createPins(on: Registrar['on']): Pins {
  const boards = new LRUCache<string, Board>({ max: REMEMBERED });
  watch(on, boards);
  return {
    async of(channel, ask) {
      const board = boards.get(channel.id) ?? newBoard();
      boards.set(channel.id, board);
      if (!board.fresh || board.latest !== latestPin(channel)) {
        board.loading ??= load(board, channel, ask).finally(() => {
          board.loading = undefined;
        });
        await board.loading;
      }
      return [...board.pins.values()].sort((a, b) => a.pinnedAt - b.pinnedAt);
    },
  };
}

function newBoard(): Board {
  return { pins: new Map(), fresh: false, latest: null, changes: 0, loading: undefined };
}

function latestPin(channel: SendableChannels): number | null {
  return 'lastPinTimestamp' in channel ? channel.lastPinTimestamp : null;
}

function watch(on: Registrar['on'], boards: LRUCache<string, Board>): void {
  const change = (channelId: string, apply: (board: Board) => void) => {
    const board = boards.peek(channelId);
    if (board === undefined) return;
    board.changes += 1;
    apply(board);
  };
  const goStale = (board: Board) => {
    board.fresh = false;
  };
  // Discord does not say which message it was.
  on('channelPinsUpdate', ({ id }) => change(id, goStale));
  // It may have been out of sight.
  on('channelUpdate', (_old, { id }) => change(id, goStale));
  on('messageUpdate', (_old, message) => {
    const board = boards.peek(message.channelId);
    if (board === undefined || message.partial) return;
    const known = board.pins.get(message.id);
    const isConfig = parseConfig(message.content) !== undefined;
    if (known === undefined && !(message.pinned && isConfig)) return;
    board.changes += 1;
    if (known === undefined) board.fresh = false;
    else if (!isConfig || !message.pinned) board.pins.delete(message.id);
    else board.pins.set(message.id, toPin(message, known.pinnedAt));
  });
  // Nor does it tell of a pin that goes with its message.
  on('messageDelete', ({ id, channelId }) => change(channelId, (board) => board.pins.delete(id)));
  on('messageDeleteBulk', (messages, channel) =>
    change(channel.id, (board) => {
      for (const id of messages.keys()) board.pins.delete(id);
    }),
  );
  on('channelDelete', ({ id }) => boards.delete(id));
  on('threadDelete', ({ id }) => boards.delete(id));
  on('shardReady', () => {
    for (const board of boards.values()) goStale(board);
  });
}

async function load(board: Board, channel: SendableChannels, ask: Ask): Promise<void> {
  board.fresh = false;
  for (let attempt = 0; attempt < MOST_ATTEMPTS && !board.fresh; attempt += 1) {
    const { changes } = board;
    board.latest = latestPin(channel);
    const pins = await fetchAll(channel, ask);
    board.pins = new Map(pins.map((pin) => [pin.messageId, pin]));
    board.fresh = board.changes === changes;
  }
}

async function fetchAll(channel: SendableChannels, ask: Ask): Promise<readonly Pin[]> {
  const pins: Pin[] = [];
  let before: number | undefined;
  for (;;) {
    const page = await ask(() =>
      channel.messages.fetchPins({ limit: PAGE, cache: false, ...(before === undefined ? {} : { before }) }),
    );
    for (const { message, pinnedTimestamp } of page.items) {
      if (parseConfig(message.content) !== undefined) pins.push(toPin(message, pinnedTimestamp));
    }
    before = page.items.at(-1)?.pinnedTimestamp;
    if (!page.hasMore || before === undefined) return pins;
  }
}

function toPin(message: Message, pinnedAt: number): Pin {
  return {
    messageId: message.id,
    authorId: isWebhookMessage(message) ? null : message.author.id,
    content: message.content,
    editedAt: message.editedTimestamp,
    pinnedAt,
  };
}
