import { type Access, asNotice, compareIds, type FrontDoor, idBefore, olderId, t } from '@cinnabar/sdk';
import { type GuildMember, type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { ChatServices } from '../plugin-context.js';
import { type Ask, type Lookup, refusalFor } from './access.js';
import type { Place, WindowRequest } from './channel-history.js';
import type { StoredMessage } from './message.js';
import type { HistoryMessage } from './types.js';

/** A message that a link points to. */
interface MessagePlace {
  /** `null` for a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
}

/** A parsed `.history` message. The range replaces everything before the message. */
type HistoryCommand =
  | { readonly kind: 'hide' }
  /** From `first` (without it, as far back as the window reaches) to `last` (without it, the command itself). */
  | { readonly kind: 'range'; readonly first: MessagePlace | undefined; readonly last: MessagePlace | undefined }
  | { readonly kind: 'malformed'; readonly detail: string };

const START = /^\.history(?![\w-])/i;
const URL =
  /^<?https:\/\/(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/channels\/(\d{1,20}|@me)\/(\d{1,20})\/(\d{1,20})\/?>?$/;
const ENTRY = /^(\w+)\s*:\s*(\S.*)$/;

/** A fast check for every message of a window: whether the text must be parsed. */
export function looksLikeHistory(content: string): boolean {
  return content.charCodeAt(0) === 46 && START.test(content);
}

/**
 * Parses a `.history` message:
 *
 *     .history                       .history <url>                 .history
 *                                    .history <url> <url>           last: <url>
 *                                                                   first: <url>
 *
 * Two plain URLs may stand in either order; lines of `---` are ignored. `undefined` for other messages.
 */
function parseHistoryCommand(content: string): HistoryCommand | undefined {
  if (!looksLikeHistory(content)) return undefined;
  const [head = '', ...rest] = content.split(/\r?\n/).map((line) => line.trim());
  const words = head.split(/\s+/).slice(1);
  const entries = rest.filter((line) => line !== '' && !/^-{3,}$|^`{3}\w*$/.test(line));
  if (words.length > 0 && entries.length > 0)
    return malformed(t('it has both links and lines of `last:` and `first:`'));
  return words.length > 0 ? fromWords(words) : fromEntries(entries);
}

function fromWords(words: readonly string[]): HistoryCommand {
  const places = words.map(placeIn);
  const [one, other] = places;
  if (places.length > 2 || places.includes(undefined)) return malformed(t('it takes at most two links to messages'));
  if (one === undefined || other === undefined) return range(undefined, one);
  return compareIds(one.messageId, other.messageId) <= 0 ? range(one, other) : range(other, one);
}

function fromEntries(lines: readonly string[]): HistoryCommand {
  const found = new Map<string, MessagePlace>();
  for (const line of lines) {
    const [, key = '', value = ''] = ENTRY.exec(line) ?? [];
    const place = placeIn(value);
    if (!/^(?:last|first)$/i.test(key)) return malformed(t('only `last:` and `first:` may follow'));
    if (place === undefined) return malformed(t('`{key}:` is not a link to a message', { key }));
    if (found.has(key.toLowerCase())) return malformed(t('`{key}:` is there twice', { key }));
    found.set(key.toLowerCase(), place);
  }
  return found.size === 0 ? { kind: 'hide' } : range(found.get('first'), found.get('last'));
}

function range(first: MessagePlace | undefined, last: MessagePlace | undefined): HistoryCommand {
  if (first !== undefined && last !== undefined) {
    if (first.channelId !== last.channelId) return malformed(t('its two links lead to different channels'));
    if (compareIds(first.messageId, last.messageId) > 0) return malformed(t('`first:` is after `last:`'));
  }
  return { kind: 'range', first, last };
}

function placeIn(text: string): MessagePlace | undefined {
  const [, guild, channelId, messageId] = URL.exec(text) ?? [];
  if (guild === undefined || channelId === undefined || messageId === undefined) return undefined;
  return { guildId: guild === '@me' ? null : guild, channelId, messageId };
}

function malformed(detail: string): HistoryCommand {
  return { kind: 'malformed', detail };
}

/**
 * Whether the author of a `.history` message may use it: members who may manage messages there, or have one of the roles (by id or name); in a direct message,
 * the person. Never a bot or a webhook, because other people can determine what these write.
 */
async function mayUseHistory(
  { author }: HistoryMessage,
  channel: SendableChannels,
  historyRoles: readonly string[],
  lookup: Lookup,
  ask: Ask,
): Promise<boolean> {
  if (author.bot || author.self || author.speaker !== author.id) return false;
  if (channel.isDMBased()) return true;
  const member = await lookup.member(channel.guild, author.id, ask);
  if (member === undefined) return false;
  const manages = channel.permissionsFor(member)?.has(PermissionFlagsBits.ManageMessages) ?? false;
  return manages || hasRole(member, historyRoles);
}

function hasRole(member: GuildMember, wanted: readonly string[]): boolean {
  const names = new Set(wanted.map((name) => name.trim().toLowerCase()));
  return member.roles.cache.some(({ id, name }) => names.has(id) || names.has(name.toLowerCase()));
}

export const hiddenNote = () =>
  t('The target of a `.history` message is left out: it does not exist, or the member who asked or I may not read it.');

/** The newest valid `.history` message, and its target. */
interface Found {
  /** Its index in the list. */
  readonly at: number;
  readonly next: Place | undefined;
}

/** Looks for the newest `.history` message whose author may use it. */
export async function findCommand(
  messages: readonly StoredMessage[],
  channel: SendableChannels,
  request: WindowRequest,
  { lookup }: { readonly lookup: Lookup },
): Promise<Found | undefined> {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]?.message;
    if (message === undefined || !looksLikeHistory(message.content)) continue;
    const command = parseHistoryCommand(message.content);
    if (command === undefined) continue;
    if (command.kind === 'malformed') {
      request.note(
        t('The `.history` of message {messageId} was not followed: {detail}.', {
          messageId: message.id,
          detail: command.detail,
        }),
      );
    } else if (await mayUseHistory(message, channel, request.options.historyRoles, lookup, request.ask)) {
      return { at, next: await target(command, channel, message.id, request, lookup) };
    } else
      request.note(
        t('The `.history` of message {messageId} was not followed: its author may not use it.', {
          messageId: message.id,
        }),
      );
  }
  return undefined;
}

/** Why a `.history` message is ignored, as a sentence for its author; `undefined` if it is used, or is none. */
export async function historyRefusal(
  message: HistoryMessage,
  channel: SendableChannels,
  historyRoles: readonly string[],
  ask: Ask,
  { lookup, access }: { readonly lookup: Lookup; readonly access: Pick<Access, 'mayEnter'> },
): Promise<string | undefined> {
  const command = parseHistoryCommand(message.content);
  if (command === undefined) return undefined;
  if (command.kind === 'malformed') return t('I do not follow this `.history`: {detail}.', { detail: command.detail });
  if (!(await mayUseHistory(message, channel, historyRoles, lookup, ask)))
    return t(
      'I do not follow this `.history`: it takes the permission to manage messages here, or a role that the admins have chosen for it.',
    );
  const place = command.kind === 'hide' ? undefined : (command.last ?? command.first);
  if (place === undefined) return undefined;
  const there = await reach(place, channel, ask, lookup);
  const reader = {
    userId: message.author.id,
    guildId: channel.isDMBased() ? null : channel.guildId,
    channelId: channel.id,
  };
  if (there !== undefined && (await refusalFor(there, [reader], access, ask)) === undefined) return undefined;
  return t('This `.history` has no effect: the target of its link does not exist, or you or I may not read it.');
}

/** The place that a command refers to. It must be earlier than the command, so there can be no loop. */
async function target(
  command: Exclude<HistoryCommand, { kind: 'malformed' }>,
  channel: SendableChannels,
  commandId: string,
  request: WindowRequest,
  lookup: Lookup,
): Promise<Place | undefined> {
  const place = command.kind === 'hide' ? undefined : (command.last ?? command.first);
  if (command.kind === 'hide' || place === undefined) return undefined;
  const there = await reach(place, channel, request.ask, lookup);
  if (there === undefined) {
    request.note(hiddenNote());
    return undefined;
  }
  const before = idBefore(commandId);
  const upTo = command.last === undefined ? before : olderId(command.last.messageId, before);
  return { channel: there, upTo, downTo: command.first?.messageId };
}

/** The channel of a link; only within the same guild, or the same direct message. */
async function reach(
  { guildId, channelId }: MessagePlace,
  from: SendableChannels,
  ask: Ask,
  lookup: Lookup,
): Promise<SendableChannels | undefined> {
  if (from.isDMBased()) return guildId === null && channelId === from.id ? from : undefined;
  if (guildId !== from.guild.id) return undefined;
  return lookup.channel(from.guild, channelId, ask);
}

/** Time in which a member gets no second report in a channel. */
const QUIET_MS = 60_000;
const REMEMBERED = 1_000;

/** Reports in the channel that a `.history` message is ignored, because otherwise it would seem to work. The report is a notice, which no model reads. */
export function tellRefusedHistory({ on, history, config, clock, log }: ChatServices, frontDoor: FrontDoor): void {
  const told = new LRUCache<string, true>({
    max: REMEMBERED,
    ttl: QUIET_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  const tell = async (message: Message, channel: SendableChannels): Promise<void> => {
    const { author, guildId } = message;
    if ((await frontDoor.responderIn(guildId, channel.id)) !== 'chat') return;
    const { historyRoles } = (await config.forChannel(channel)).config;
    const refusal = await history.refusalOf(message, historyRoles);
    const key = `${channel.id}/${author.id}`;
    if (refusal === undefined || told.has(key)) return;
    told.set(key, true);
    await message
      .reply({ content: asNotice(refusal), allowedMentions: { parse: [], repliedUser: false } })
      .catch((error: unknown) => log.debug('a refused .history could not be told', { error }));
  };
  // An async listener would create a promise for every message.
  on('messageCreate', (message) => {
    const { author, channel, content } = message;
    if (author.bot || message.webhookId !== null || !looksLikeHistory(content)) return undefined;
    return channel.isSendable() ? tell(message, channel) : undefined;
  });
}
