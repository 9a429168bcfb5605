import { styleText } from 'node:util';
import type { LocalEvent, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { harmless } from '../harmless.js';
import { ConsoleError } from './instruction.js';
import { menuWords } from './menus.js';

/** Gives every message a short id, in the order in which they appear, and turns events into lines. */
interface Transcript {
  /** Lines to print for an event; none for an event that a person would not see. */
  lines(event: LocalEvent): readonly string[];
  /** The ids of all messages that are not deleted, in order. */
  ids(): readonly string[];
  /** @throws ConsoleError when there is no such message */
  find(id: string): LocalMessage;
  /** The bot's latest message that is not deleted. @throws ConsoleError when there is none */
  latestOf(bot: LocalUser): LocalMessage;
}

interface TranscriptDependencies {
  /** The text of a message as people should read it. */
  readonly render: (text: string) => string;
  /** Where a message is, when that is not the place shown on the screen. */
  readonly placeOf: (message: LocalMessage) => string | undefined;
  /** At a terminal: how names are shown, and which message an answer belongs to. */
  readonly style?: Style;
}

export function createTranscript({ render, placeOf, style }: TranscriptDependencies): Transcript {
  const ids = new Map<LocalMessage, string>();
  const byId = new Map<string, LocalMessage>();
  const idOf = (message: LocalMessage) => {
    const known = ids.get(message);
    if (known !== undefined) return known;
    const id = `m${ids.size + 1}`;
    ids.set(message, id);
    byId.set(id, message);
    return id;
  };

  const show = (message: LocalMessage) => {
    const place = placeOf(message);
    const answered = style !== undefined && message.replyTo !== undefined ? ids.get(message.replyTo) : undefined;
    const where = place === undefined ? '' : `[${place}] `;
    const to = answered === undefined ? '' : ` ↪ ${answered}`;
    const heading = `${message.author.username}${seenBy(message)}${to}: `;
    const author = style === undefined ? heading : style(message.author.bot ? 'green' : 'yellow', heading);
    return `${where}${author}${body(message, render)}`;
  };
  const lines = (event: LocalEvent): readonly string[] => {
    switch (event.type) {
      case 'messageCreate':
        return [`${idOf(event.message)} ${show(event.message)}`];
      case 'messageEdit':
        return [`${idOf(event.message)}* ${show(event.message)}`];
      case 'messageDelete':
        // A deferred answer may be deleted without ever having been shown.
        return ids.has(event.message) ? [`${idOf(event.message)} deleted`] : [];
      case 'reactionAdd':
      case 'reactionRemove': {
        const sign = event.type === 'reactionAdd' ? '+' : '-';
        return [`${idOf(event.message)} ${sign}${event.emoji.name} ${event.user.username}`];
      }
      default:
        return [];
    }
  };

  return {
    lines,
    ids: () => [...ids].flatMap(([message, id]) => (message.deleted ? [] : [id])),
    find(id) {
      const message = byId.get(id);
      if (message === undefined) throw new ConsoleError(`There is no message ${id}.`);
      return message;
    },
    latestOf(bot) {
      const latest = [...ids.keys()].filter((message) => message.author.id === bot.id && !message.deleted).at(-1);
      if (latest === undefined) throw new ConsoleError('The bot has not said anything yet.');
      return latest;
    },
  };
}

function seenBy({ visibleTo }: LocalMessage): string {
  return visibleTo === undefined ? '' : ` (only @${visibleTo.username} sees this)`;
}

function body(message: LocalMessage, render: (text: string) => string): string {
  const embeds = message.embeds.flatMap((embed) => [
    embed.title,
    embed.description,
    ...(embed.fields ?? []).map((field) => `${field.name}: ${field.value}`),
    embed.footer?.text,
  ]);
  const files = message.attachments.map((file) => `[file ${file.filename}, ${file.data.byteLength} bytes]`);
  const controls = message.components.flatMap(labels).map((label) => `[${label}]`);
  const texts = [message.content, ...embeds].flatMap((text) => (text ? [render(harmless(text))] : []));
  return [...texts, ...files, controls.join(' ')].filter(Boolean).join('\n');
}

/** The labels of buttons and select menus, at any depth. */
function labels(component: object): string[] {
  if ('components' in component && Array.isArray(component.components)) return component.components.flatMap(labels);
  const menu = menuWords(component);
  if (menu !== undefined) return [menu];
  return 'label' in component && typeof component.label === 'string' ? [component.label] : [];
}

/** Renders Discord's Markdown for a terminal. Without colours only the markup is removed. */
export type Style = (
  kind: 'bold' | 'italic' | 'underline' | 'strikethrough' | 'dim' | 'cyan' | 'green' | 'yellow',
  text: string,
) => string;

export const plainStyle: Style = (_kind, text) => text;
export const colours: Style = (kind, text) => styleText(kind, text);

/** Tried in order at every position; code is left alone. */
const SPANS: readonly (readonly [RegExp, (style: Style, inner: string, link: string) => string])[] = [
  [/^```(?:[a-z0-9+-]*\n)?([\s\S]*?)```/i, (style, code) => style('cyan', code.replace(/\n$/, ''))],
  [/^`([^`\n]+)`/, (style, code) => style('cyan', code)],
  [/^\\([*_~`|>#\\()[\]-])/, (_, sign) => sign],
  [/^\*\*([\s\S]+?)\*\*/, (style, inner) => style('bold', toTerminal(inner, style))],
  [/^__([\s\S]+?)__/, (style, inner) => style('underline', toTerminal(inner, style))],
  [/^~~([\s\S]+?)~~/, (style, inner) => style('strikethrough', toTerminal(inner, style))],
  [/^\|\|([\s\S]+?)\|\|/, (style, inner) => style('dim', toTerminal(inner, style))],
  [/^\*(?!\s)([^*\n]+?)\*/, (style, inner) => style('italic', toTerminal(inner, style))],
  [
    /^(?<![\p{L}\p{N}])_(?!\s)([^_\n]+?)_(?![\p{L}\p{N}])/u,
    (style, inner) => style('italic', toTerminal(inner, style)),
  ],
  [/^\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/, (style, words, link) => `${words} ${style('dim', `(${link})`)}`],
];
const STARTS = /[`\\*_~|[]/;

/**
 * Discord's Markdown for a terminal: bold is bold, code has a colour, and the markup is removed. Linear in practice: each mark is searched once for its end.
 */
function toTerminal(text: string, style: Style): string {
  let shown = '';
  for (let at = 0; at < text.length; ) {
    const next = text.slice(at).search(STARTS);
    if (next < 0) return shown + text.slice(at);
    shown += text.slice(at, at + next);
    at += next;
    const rest = text.slice(at);
    const found = SPANS.flatMap(([pattern, show]) => {
      const match = pattern.exec(rest);
      return match === null ? [] : [{ length: match[0].length, text: show(style, match[1] ?? '', match[2] ?? '') }];
    })[0];
    shown += found?.text ?? text[at] ?? '';
    at += found?.length ?? 1;
  }
  return shown;
}

/** Headings, small print and quotes, line by line, with the spans in them. Blocks of code may have several lines. */
export function renderMarkdown(text: string, style: Style): string {
  return text
    .split(/(```[\s\S]*?```)/)
    .map((part) =>
      part.startsWith('```')
        ? toTerminal(part, style)
        : part
            .split('\n')
            .map((line) => renderLine(line, style))
            .join('\n'),
    )
    .join('');
}

function renderLine(line: string, style: Style): string {
  const heading = /^#{1,3} (.+)$/.exec(line)?.[1];
  if (heading !== undefined) return style('bold', toTerminal(heading, style));
  const small = /^-# (.+)$/.exec(line)?.[1];
  if (small !== undefined) return style('dim', toTerminal(small, style));
  const quote = /^>(?:>>)? (.+)$/.exec(line)?.[1];
  if (quote !== undefined) return `${style('dim', '│')} ${toTerminal(quote, style)}`;
  return toTerminal(line, style);
}
