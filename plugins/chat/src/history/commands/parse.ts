import { compareIds } from '../snowflake.js';

/** A message that somebody pointed to. */
export interface MessagePlace {
  /** `null`: a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
}

/** What a `.history` message asks for: everything before it is hidden, and this stands there instead. */
export type HistoryCommand =
  | { readonly kind: 'hide' }
  /** From `first` (or as far back as the window reaches) to `last` (or the command itself). */
  | { readonly kind: 'range'; readonly first: MessagePlace | undefined; readonly last: MessagePlace | undefined }
  | { readonly kind: 'malformed'; readonly detail: string };

const START = /^\.history(?![\w-])/i;
const URL =
  /^<?https:\/\/(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/channels\/(\d{1,20}|@me)\/(\d{1,20})\/(\d{1,20})\/?>?$/;
const ENTRY = /^(\w+)\s*:\s*(\S.*)$/;

/** Whether it is worth parsing: asked of every message of a window. */
export function looksLikeHistory(content: string): boolean {
  return content.charCodeAt(0) === 46 && START.test(content);
}

/**
 * Reads a `.history` message:
 *
 *     .history                       .history <url>                 .history
 *                                    .history <url> <url>           last: <url>
 *                                                                   first: <url>
 *
 * Two plain URLs may stand in either order; lines of `---` are passed over. `undefined` when it is none.
 */
export function parseHistoryCommand(content: string): HistoryCommand | undefined {
  if (!looksLikeHistory(content)) return undefined;
  const [head = '', ...rest] = content.split(/\r?\n/).map((line) => line.trim());
  const words = head.split(/\s+/).slice(1);
  const entries = rest.filter((line) => line !== '' && !/^-{3,}$|^`{3}\w*$/.test(line));
  if (words.length > 0 && entries.length > 0) return malformed('it has both links and lines of `last:` and `first:`');
  return words.length > 0 ? fromWords(words) : fromEntries(entries);
}

function fromWords(words: readonly string[]): HistoryCommand {
  const places = words.map(placeIn);
  const [one, other] = places;
  if (places.length > 2 || places.includes(undefined)) return malformed('it takes at most two links to messages');
  if (one === undefined || other === undefined) return range(undefined, one);
  return compareIds(one.messageId, other.messageId) <= 0 ? range(one, other) : range(other, one);
}

function fromEntries(lines: readonly string[]): HistoryCommand {
  const found = new Map<string, MessagePlace>();
  for (const line of lines) {
    const [, key = '', value = ''] = ENTRY.exec(line) ?? [];
    const place = placeIn(value);
    if (!/^(?:last|first)$/i.test(key)) return malformed('only `last:` and `first:` may follow');
    if (place === undefined) return malformed(`\`${key}:\` is not a link to a message`);
    if (found.has(key.toLowerCase())) return malformed(`\`${key}:\` is there twice`);
    found.set(key.toLowerCase(), place);
  }
  return found.size === 0 ? { kind: 'hide' } : range(found.get('first'), found.get('last'));
}

function range(first: MessagePlace | undefined, last: MessagePlace | undefined): HistoryCommand {
  if (first !== undefined && last !== undefined) {
    if (first.channelId !== last.channelId) return malformed('its two links lead to different channels');
    if (compareIds(first.messageId, last.messageId) > 0) return malformed('`first:` is after `last:`');
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
