import { isWebhookMessage, type Registrar } from '@cinnabar/sdk';
import { type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { type Members, mayBotRead } from './access.js';
import type { Ask } from './ask.js';
import type { PinnedConfig } from './types.js';

/** A pinned message that starts with `.config`. */
interface Pin {
  readonly messageId: string;
  /** `null` for a webhook. */
  readonly authorId: string | null;
  readonly content: string;
  readonly editedAt: number | null;
  readonly pinnedAt: number;
}

/** The pinned `.config` messages of channels that have been asked for. */
interface Pins {
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

/** The pinned configuration that holds in a channel: in a thread, its parent's and then its own. */
export async function configsOf(
  channel: SendableChannels,
  names: readonly string[] | undefined,
  pins: Pins,
  members: Members,
  ask: Ask,
): Promise<readonly PinnedConfig[]> {
  // In a direct message everybody can pin, and nobody answers for it.
  if (channel.isDMBased() || !mayBotRead(channel)) return [];
  const found: PinnedConfig[] = [];
  for (const place of withParent(channel)) {
    for (const pin of await pins.of(place, ask)) {
      const text = parseConfig(pin.content);
      if (text === undefined || !isFor(text, channel.client.user.id, names ?? namesOn(channel))) continue;
      if (isOwnOrNobodys(pin, place)) continue;
      if (await isApproved(pin, place, members, ask)) found.push({ messageId: pin.messageId, yaml: text.yaml });
    }
  }
  return found;
}

function withParent(channel: SendableChannels): readonly SendableChannels[] {
  if (!channel.isThread() || channel.parent === null || channel.parent.isThreadOnly()) return [channel];
  return mayBotRead(channel.parent) ? [channel.parent, channel] : [channel];
}

function namesOn(channel: SendableChannels): readonly string[] {
  const { user } = channel.client;
  const nickname = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return [user.username, user.displayName, ...(nickname === undefined ? [] : [nickname])];
}

/** What the bot says, and what comes through a webhook, may be what a member had it say: it configures nothing, even when an admin pinned it. */
function isOwnOrNobodys({ authorId }: Pin, { client }: SendableChannels): boolean {
  return authorId === null || authorId === client.user.id;
}

/**
 * Whoever pinned it stands for what it said then. Edited since, it counts only when its author might have pinned it too: otherwise a member's
 * harmless message, once pinned, could be turned into configuration.
 */
async function isApproved(pin: Pin, channel: SendableChannels, members: Members, ask: Ask): Promise<boolean> {
  if (pin.editedAt === null || pin.editedAt <= pin.pinnedAt) return true;
  if (channel.isDMBased() || pin.authorId === null) return false;
  const member = await members.find(channel.guild, pin.authorId, ask);
  const permissions = member === undefined ? null : channel.permissionsFor(member);
  if (permissions === null) return false;
  return permissions.has(PermissionFlagsBits.ManageMessages) || permissions.has(PermissionFlagsBits.PinMessages);
}

/** A `.config` message: for whom, and what it says. */
interface ConfigText {
  /** Names or mentions after `.config`, in lower case; none: it is for every bot. */
  readonly names: readonly string[];
  readonly yaml: string;
}

const HEAD = /^\.config(?:[ \t]+(\S.*?))?[ \t]*$/i;
const FENCE = /^```(?:ya?ml)?[ \t]*\n([\s\S]*?)\n?```\s*$/;

/**
 * Reads a message whose first line is `.config`, `.config NAME` or `.config NAME, OTHER`; the YAML follows, in a code fence or after a line of
 * `---` if one likes. `undefined` when it is none.
 */
function parseConfig(content: string): ConfigText | undefined {
  if (content.charCodeAt(0) !== 46) return undefined;
  const text = content.replaceAll('\r\n', '\n');
  const end = text.indexOf('\n');
  const head = HEAD.exec(end < 0 ? text : text.slice(0, end));
  if (head === null) return undefined;
  const names = (head[1] ?? '').split(',').map((name) => name.trim().toLowerCase());
  const body = end < 0 ? '' : text.slice(end + 1).replace(/^---[ \t]*(?:\n|$)/, '');
  return { names: names.filter((name) => name !== ''), yaml: (FENCE.exec(body)?.[1] ?? body).trim() };
}

/** Whether it is for a bot of one of these names. */
function isFor({ names }: ConfigText, botId: string, botNames: readonly string[]): boolean {
  const mine = new Set([`<@${botId}>`, `<@!${botId}>`, ...botNames.map((name) => name.trim().toLowerCase())]);
  return names.length === 0 || names.some((name) => mine.has(name));
}
