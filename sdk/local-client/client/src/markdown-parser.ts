import { rulesExtended, SimpleMarkdown } from 'discord-markdown-parser';

export type MarkdownNode = ReturnType<ReturnType<typeof SimpleMarkdown.parserFor>>[number];

export interface ListItem {
  /** 0 for the outermost level. */
  readonly depth: number;
  /** Its bullet or number. */
  readonly marker: string;
  readonly content: readonly MarkdownNode[];
}

const MAX_LIST_DEPTH = 4;
/** The last group matches the end of the last line, from which the parser's rules recognise the start of a line. */
const LINES = /^(?: *(?:[-*]|\d{1,9}\.) +\S[^\n]*(\n|$))+/;
const LINE = /^( *)([-*]|\d+\.) +(.*)$/;

/** The parser's own rule supports lists only in documents, and treats the following lines as parts of the list, unlike Discord. */
const list = {
  order: SimpleMarkdown.defaultRules.heading.order - 0.4,
  match: (source: string, _: object, before: string) => (/(?:^|\n)$/.test(before) ? LINES.exec(source) : null),
  parse: (
    [whole = '']: readonly string[],
    parse: (source: string, state: object) => readonly MarkdownNode[],
    state: object,
  ) => {
    const indents: number[] = [];
    const items = whole.split('\n').flatMap((line): ListItem[] => {
      const [, { length: indent } = '', sign = '', text = ''] = LINE.exec(line) ?? [];
      if (sign === '') return [];
      while (indent <= (indents.at(-1) ?? -1)) indents.pop();
      indents.push(indent);
      const marker = /\d/.test(sign) ? sign : '•';
      return [{ depth: Math.min(indents.length - 1, MAX_LIST_DEPTH), marker, content: parse(text, state) }];
    });
    return { items };
  },
};

const parser = SimpleMarkdown.parserFor({ ...rulesExtended, list });

/** Parses a text as Discord's Markdown; text that the parser cannot read stays plain text. */
export function parseMarkdown(text: string): readonly MarkdownNode[] {
  try {
    return parser(text, { inline: true });
  } catch {
    return [{ type: 'text', content: text }];
  }
}

/** The text without markup. */
export function plainText(content: unknown): string {
  const left: unknown[] = [content];
  let text = '';
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') text += one;
    else if (Array.isArray(one)) left.push(...one.toReversed());
    else if (typeof one === 'object' && one !== null && 'content' in one) left.push(one.content);
  }
  return text;
}
