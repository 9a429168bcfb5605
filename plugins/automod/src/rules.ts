import type { Filter, Values } from './context.js';
import { fold, visibleOnly } from './fold.js';
import { compileWords } from './words.js';

/** What a message says, as far as the filters look at it. */
export interface Looked {
  readonly content: string;
  /** Different members and roles that it mentions. */
  readonly mentions: number;
}

/** A message, with what is read in it beside its own words: messages that it forwards, and its poll. */
interface Said {
  readonly content: string;
  readonly messageSnapshots: { values(): Iterable<{ readonly content: string | null }> };
  readonly poll: {
    readonly question: { readonly text: string | null };
    readonly answers: { values(): Iterable<{ readonly text: string | null }> };
  } | null;
}

/** All that members read in a message. */
export function wordsOf({ content, messageSnapshots, poll }: Said): string {
  const forwarded = [...messageSnapshots.values()].map((one) => one.content);
  const asked = poll === null ? [] : [poll.question.text, ...[...poll.answers.values()].map(({ text }) => text)];
  const others = [...forwarded, ...asked].filter((text) => text !== null && text !== '');
  return others.length === 0 ? content : [content, ...others].join('\n');
}

/** A filter that a message offends against, and what in it does. */
export interface Hit {
  readonly filter: Filter;
  /** The word, the address …; for moderators. */
  readonly what: string;
}

/** The filters of a guild, compiled once when its settings change. */
export interface Rules {
  readonly values: Values;
  /** Whether any filter is on. */
  readonly isOn: boolean;
  /** By content alone; invites are only found (`invitesIn`), since whose they are has to be asked. */
  check(message: Looked): Hit | undefined;
  /** For nicknames and names of threads. */
  checkName(name: string): Hit | undefined;
}

const LEAST_LETTERS = 12;
/** Discord's own addresses are no links to elsewhere: messages, emoji, attachments. Invites have a filter of their own. */
const OWN_DOMAINS = ['discord.com', 'discordapp.com', 'discordapp.net', 'discord.gg'];

export function compileRules(values: Values): Rules {
  const findWord = compileWords(values.words);
  const hasWords = values.words.length > 0;
  const { mentions, capitals, links, domains } = values;
  const listed = new Set(domains.map((domain) => domain.replace(/^\*\./, '')));

  const badLink = (content: string): string | undefined => {
    if (links === 'off') return undefined;
    return domainsIn(content).find(
      (domain) => !isWithin(domain, OWN_SET) && isWithin(domain, listed) === (links === 'deny'),
    );
  };
  const checks: readonly (readonly [Filter, (message: Looked) => string | undefined])[] = [
    ...(hasWords ? [['words', ({ content }: Looked) => findWord(fold(content))] as const] : []),
    ...(links === 'off' ? [] : [['links', ({ content }: Looked) => badLink(content)] as const]),
    ...(mentions === 0
      ? []
      : [['mentions', ({ mentions: count }: Looked) => (count > mentions ? String(count) : undefined)] as const]),
    ...(capitals === 0 ? [] : [['capitals', ({ content }: Looked) => tooLoud(content, capitals)] as const]),
  ];
  return {
    values,
    isOn: checks.length > 0 || values.invites || values.repeats > 0 || values.rate > 0,
    check(message) {
      for (const [filter, find] of checks) {
        const what = find(message);
        if (what !== undefined) return { filter, what };
      }
      return undefined;
    },
    checkName(name) {
      const what = values.names && hasWords ? findWord(fold(name)) : undefined;
      return what === undefined ? undefined : { filter: 'words', what };
    },
  };
}

const OWN_SET: ReadonlySet<string> = new Set(OWN_DOMAINS);

/** A link, or what clients make one of. Each character is looked at a bounded number of times. */
const LINK = /https?:\/\/(?:[^\s/?#@]{0,200}@)?([^\s/?#<>()[\]"'\\:@]{1,253})/gi;

function domainsIn(content: string): readonly string[] {
  if (!content.includes('://')) return [];
  return [...visibleOnly(content).matchAll(LINK)].map(([, host = '']) => host.toLowerCase().replace(/\.+$/, ''));
}

/** Whether a domain or one that it is a part of is in the list. */
function isWithin(domain: string, list: ReadonlySet<string>): boolean {
  for (let rest = domain; ; ) {
    if (list.has(rest)) return true;
    const dot = rest.indexOf('.');
    if (dot < 0) return false;
    rest = rest.slice(dot + 1);
  }
}

const INVITE = /(?:discord\.gg|discord(?:app)?\.com\/invite|dsc\.gg)\/+([\w-]{2,40})/gi;

/** Codes of invites in a message. */
export function invitesIn(content: string): readonly string[] {
  // Nearly every message is done with here.
  if (!content.includes('/')) return [];
  return [...new Set([...visibleOnly(content).matchAll(INVITE)].map(([, code = '']) => code))];
}

const CUSTOM_EMOJI = /<a?:\w{2,32}:\d{15,21}>/g;

function tooLoud(content: string, most: number): string | undefined {
  const text = content.includes('<') ? content.replace(CUSTOM_EMOJI, '') : content;
  const small = text.toLowerCase();
  const large = text.toUpperCase();
  // Some letters become two: then the places differ, and each letter is looked at by itself.
  const isAligned = small.length === text.length && large.length === text.length;
  const { letters, capitals } = isAligned ? countAligned(text, small, large) : countSingly(text);
  if (letters < LEAST_LETTERS) return undefined;
  const share = Math.round((capitals / letters) * 100);
  return share > most ? `${share} %` : undefined;
}

function countAligned(text: string, small: string, large: string) {
  let letters = 0;
  let capitals = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = small.charCodeAt(at);
    if (code === large.charCodeAt(at)) continue;
    letters += 1;
    if (code !== text.charCodeAt(at)) capitals += 1;
  }
  return { letters, capitals };
}

function countSingly(text: string) {
  const characters = [...text].filter((one) => one.toLowerCase() !== one.toUpperCase());
  return { letters: characters.length, capitals: characters.filter((one) => one !== one.toLowerCase()).length };
}
