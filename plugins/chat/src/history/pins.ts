import { isWebhookMessage, type Registrar } from '@cinnabar/sdk';
import { type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { type Ask, type Lookup, mayBotRead } from './access.js';
import type { PinnedConfig } from './types.js';

/** A pinned message that starts with `.config`. */
interface Pin {
  readonly messageId: string;
  /** `null` for a webhook's message. */
  readonly authorId: string | null;
  readonly content: string;
  readonly editedAt: number | null;
  readonly pinnedAt: number;
}

interface ChannelPins {
  pins: Map<string, Pin>;
  /** Whether the pins are up to date. */
  fresh: boolean;
  /** The time of the channel's latest pin when they were fetched. discord.js updates it also while this plugin gets no events. */
  latest: number | null;
  /** Increases with each event; a list that was requested before is then discarded. */
  changes: number;
  loading: Promise<void> | undefined;
}

const REMEMBERED = 1_000;
/** Discord's own limit. */
const PAGE = 50;
const MOST_ATTEMPTS = 3;

/**
 * The pinned `.config` messages of channels. They are fetched once and then updated by events; only after a message was pinned or unpinned they are fetched
 * again.
 */
export function createPins(on: Registrar['on']) {
  const channels = new LRUCache<string, ChannelPins>({ max: REMEMBERED });
  watch(on, channels);
  /** Oldest pin first. */
  const pinsOf = async (channel: SendableChannels, ask: Ask): Promise<readonly Pin[]> => {
    const known = channels.get(channel.id) ?? newChannelPins();
    channels.set(channel.id, known);
    if (!known.fresh || known.latest !== latestPin(channel)) {
      known.loading ??= load(known, channel, ask).finally(() => {
        known.loading = undefined;
      });
      await known.loading;
    }
    return [...known.pins.values()].sort((a, b) => a.pinnedAt - b.pinnedAt);
  };
  return {
    /** The pinned configuration of a channel: for a thread, that of its parent first. */
    async configsOf(
      channel: SendableChannels,
      names: readonly string[] | undefined,
      lookup: Lookup,
      ask: Ask,
    ): Promise<readonly PinnedConfig[]> {
      // In a direct message both people can pin without a permission, so pins configure nothing.
      if (channel.isDMBased() || !mayBotRead(channel)) return [];
      const found: PinnedConfig[] = [];
      for (const place of withParent(channel)) {
        for (const pin of await pinsOf(place, ask)) {
          const text = parseConfig(pin.content);
          if (text === undefined || !isFor(text, channel.client.user.id, names ?? namesOn(channel))) continue;
          if (await isApproved(pin, place, lookup, ask)) found.push({ messageId: pin.messageId, yaml: text.yaml });
        }
      }
      return found;
    },
  };
}

function newChannelPins(): ChannelPins {
  return { pins: new Map(), fresh: false, latest: null, changes: 0, loading: undefined };
}

function latestPin(channel: SendableChannels): number | null {
  return 'lastPinTimestamp' in channel ? channel.lastPinTimestamp : null;
}

function watch(on: Registrar['on'], channels: LRUCache<string, ChannelPins>): void {
  const change = (channelId: string, apply: (known: ChannelPins) => void) => {
    const known = channels.peek(channelId);
    if (known === undefined) return;
    known.changes += 1;
    apply(known);
  };
  const markStale = (known: ChannelPins) => {
    known.fresh = false;
  };
  // Discord does not say which message was pinned or unpinned.
  on('channelPinsUpdate', ({ id }) => change(id, markStale));
  // Pins may have changed while the channel was invisible.
  on('channelUpdate', (_old, { id }) => change(id, markStale));
  on('messageUpdate', (_old, message) => {
    const known = channels.peek(message.channelId);
    if (known === undefined || message.partial) return;
    const pin = known.pins.get(message.id);
    if (pin === undefined && !message.pinned) return;
    const isConfig = parseConfig(message.content) !== undefined;
    if (pin === undefined && !isConfig) return;
    known.changes += 1;
    if (pin === undefined) known.fresh = false;
    else if (!isConfig || !message.pinned) known.pins.delete(message.id);
    else known.pins.set(message.id, toPin(message, pin.pinnedAt));
  });
  // A pinned message that is deleted leads to no event about pins.
  on('messageDelete', ({ id, channelId }) => change(channelId, (known) => known.pins.delete(id)));
  on('messageDeleteBulk', (messages, channel) =>
    change(channel.id, (known) => {
      for (const id of messages.keys()) known.pins.delete(id);
    }),
  );
  on('channelDelete', ({ id }) => channels.delete(id));
  on('threadDelete', ({ id }) => channels.delete(id));
  on('shardReady', () => {
    for (const known of channels.values()) markStale(known);
  });
}

async function load(known: ChannelPins, channel: SendableChannels, ask: Ask): Promise<void> {
  known.fresh = false;
  for (let attempt = 0; attempt < MOST_ATTEMPTS && !known.fresh; attempt += 1) {
    const { changes } = known;
    known.latest = latestPin(channel);
    const pins = await fetchAll(channel, ask);
    known.pins = new Map(pins.map((pin) => [pin.messageId, pin]));
    known.fresh = known.changes === changes;
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

function withParent(channel: SendableChannels): readonly SendableChannels[] {
  if (!channel.isThread() || channel.parent === null || channel.parent.isThreadOnly()) return [channel];
  return mayBotRead(channel.parent) ? [channel.parent, channel] : [channel];
}

function namesOn(channel: SendableChannels): readonly string[] {
  const { user } = channel.client;
  const nickname = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return [user.username, user.displayName, ...(nickname === undefined ? [] : [nickname])];
}

/**
 * Whether a pin counts: it is unchanged since it was pinned, or its author may pin messages, too. Otherwise a member could edit a harmless message into
 * configuration after it was pinned.
 */
async function isApproved(pin: Pin, channel: SendableChannels, lookup: Lookup, ask: Ask): Promise<boolean> {
  // Members may determine what the bot or a webhook writes, so such messages configure nothing, even if an admin pinned them.
  if (channel.isDMBased() || pin.authorId === null || pin.authorId === channel.client.user.id) return false;
  if (pin.editedAt === null || pin.editedAt <= pin.pinnedAt) return true;
  const member = await lookup.member(channel.guild, pin.authorId, ask);
  const permissions = member === undefined ? null : channel.permissionsFor(member);
  if (permissions === null) return false;
  return permissions.has(PermissionFlagsBits.ManageMessages) || permissions.has(PermissionFlagsBits.PinMessages);
}

/** A `.config` message: its target bots, and its text. */
interface ConfigText {
  /** Names or mentions after `.config`, in lower case; without any, it is for every bot. */
  readonly names: readonly string[];
  readonly yaml: string;
}

const HEAD = /^\.config(?:[ \t]+(\S.*?))?[ \t]*$/i;
const FENCE = /^```(?:ya?ml)?[ \t]*\n([\s\S]*?)\n?```\s*$/;

/**
 * Parses a message whose first line is `.config`, `.config NAME` or `.config NAME, OTHER`; the YAML follows, optionally in a code fence or after a line of
 * `---`. `undefined` for other messages.
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

/** Whether it is for the bot with one of these names. */
function isFor({ names }: ConfigText, botId: string, botNames: readonly string[]): boolean {
  const mine = new Set([`<@${botId}>`, `<@!${botId}>`, ...botNames.map((name) => name.trim().toLowerCase())]);
  return names.length === 0 || names.some((name) => mine.has(name));
}
