import { styleText } from 'node:util';

/** How a terminal shows Discord's Markdown. Without colours only the signs go. */
export type Style = (
  kind: 'bold' | 'italic' | 'underline' | 'strikethrough' | 'dim' | 'cyan' | 'green' | 'yellow',
  text: string,
) => string;

export const plainStyle: Style = (_kind, text) => text;
export const colours: Style = (kind, text) => styleText(kind, text);

/** Tried in order at every place; what stands in code is left alone. */
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

/** Discord's Markdown for a terminal: bold is bold, code has a colour, and the signs are gone. Linear in practice: each sign looks once for its end. */
export function toTerminal(text: string, style: Style): string {
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
