/** The parts of a page that are checked: its code blocks, and the links, code spans and headings of its text. Lines count from 1. */

export interface Block {
  readonly line: number;
  /** The first word after the fence; empty if there is none. */
  readonly language: string;
  /** The other words after the fence. */
  readonly info: readonly string[];
  /** The content without fences and their indentation. */
  readonly text: string;
  /** The paragraph before the block, and the HTML comments between the two. */
  readonly before: string;
  readonly comments: readonly string[];
}

export interface Place {
  readonly line: number;
  readonly text: string;
}

export interface Page {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly blocks: readonly Block[];
  /** Link targets as written. */
  readonly links: readonly Place[];
  readonly spans: readonly Place[];
  /** Headings without Markdown. */
  readonly headings: readonly Place[];
  /** The text between `---` at the top; empty if there is none. */
  readonly frontMatter: string;
}

export interface Problem extends Place {
  readonly file: string;
}

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
/** A table row, a heading and a list item are separate texts, so that an unclosed span ends with them. */
const OWN_TEXT = /^\s*(?:\||#{1,6}\s|[-*+]\s|\d+\.\s)/;

/** Parses the Markdown of this project's pages: fences, headings, tables, links and spans, as in CommonMark. */
export function readPage(file: string, source: string): Page {
  const blocks: Block[] = [];
  const texts: Place[] = [];
  const headings: Place[] = [];
  const { frontMatter, lines } = withoutFrontMatter(source);
  let comments: string[] = [];
  let paragraph = '';
  let isOpen = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, indent = '', fence, info = ''] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      const end = closing(lines, at, fence);
      const [language = '', ...words] = info.trim().split(/\s+/);
      const body = lines.slice(at + 1, end).map((each) => outdented(each, indent.length));
      blocks.push({ line: at + 1, language, info: words, text: body.join('\n'), before: paragraph, comments });
      at = end;
      [paragraph, comments, isOpen] = ['', [], false];
    } else if (line.trimStart().startsWith('<!--')) {
      const end = lines.findIndex((each, index) => index >= at && each.includes('-->'));
      const last = end === -1 ? lines.length - 1 : end;
      comments.push(
        lines
          .slice(at, last + 1)
          .join('\n')
          .replace(/^\s*<!--\s?/, '')
          .replace(/\s*-->.*$/, ''),
      );
      at = last;
      isOpen = false;
    } else if (line.trim() === '') {
      isOpen = false;
    } else {
      const last = texts.at(-1);
      if (isOpen && last !== undefined && !OWN_TEXT.test(line)) {
        texts[texts.length - 1] = { line: last.line, text: `${last.text}\n${line}` };
        paragraph = `${paragraph}\n${line}`;
      } else {
        texts.push({ line: at + 1, text: line });
        paragraph = line;
        comments = [];
      }
      isOpen = true;
      const heading = HEADING.exec(line)?.[1];
      if (heading !== undefined) headings.push({ line: at + 1, text: plain(heading) });
    }
  }
  return {
    file,
    blocks,
    headings,
    frontMatter,
    spans: texts.flatMap((text) => readText(text).spans),
    links: texts.flatMap((text) => readText(text).links),
  };
}

/** Keeps the line numbers. */
function withoutFrontMatter(source: string): { readonly frontMatter: string; readonly lines: readonly string[] } {
  const lines = source.split(/\r?\n/);
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  return {
    frontMatter: lines.slice(1, Math.max(end, 1)).join('\n'),
    lines: lines.map((line, at) => (at <= end ? '' : line)),
  };
}

function closing(lines: readonly string[], opened: number, fence: string): number {
  const end = lines.findIndex((line, at) => {
    const trimmed = line.trim();
    return at > opened && trimmed.startsWith(fence) && trimmed === fence.charAt(0).repeat(trimmed.length);
  });
  return end === -1 ? lines.length : end;
}

const outdented = (line: string, columns: number) =>
  line.slice(Math.min(columns, line.length - line.trimStart().length));

/** Links and spans of a text. A span contains no links. */
function readText({ line, text }: Place): { readonly spans: readonly Place[]; readonly links: readonly Place[] } {
  const lineAt = (index: number) => line + text.slice(0, index).split('\n').length - 1;
  const spans: Place[] = [];
  const words = text.replace(
    /\\.|(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g,
    (whole, ticks: string | undefined, code: string | undefined, index: number) => {
      if (ticks === undefined || code === undefined) return whole;
      // In a table a bar within a span is written as \|.
      const content = code.replaceAll('\n', ' ').replaceAll('\\|', '|');
      spans.push({ line: lineAt(index), text: /^ .* $/.test(content) ? content.slice(1, -1) : content });
      return whole.replace(/[^\n]/g, 'x');
    },
  );
  const inline = [...words.matchAll(/\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*)>?(?:\s+["'][^"']*["'])?\s*\)/g)];
  const referenced = [...words.matchAll(/^\[[^\]]+\]:\s+<?([^\s>]+)/gm)];
  const automatic = [...words.matchAll(/<(https?:[^\s>]+)>/g)];
  const links = [...inline, ...referenced, ...automatic].map(({ 1: target = '', index }) => ({
    line: lineAt(index),
    text: target,
  }));
  return { spans, links };
}

/** A heading without markup. */
function plain(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/(?<![\w*])\*([^*]+)\*/g, '$1')
    .replaceAll('`', '');
}
