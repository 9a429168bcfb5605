/** What the checks read of a page: its blocks of code, and the links, spans of code and headings of the text between them. Lines count from 1. */

export interface Block {
  readonly line: number;
  /** The first word behind the fence; empty where there is none. */
  readonly language: string;
  /** The other words behind the fence. */
  readonly info: readonly string[];
  /** Without the fences, and without their indentation. */
  readonly text: string;
  /** The paragraph that ends before the block, and comments of HTML between the two. */
  readonly before: string;
  readonly comments: readonly string[];
}

export interface Place {
  readonly line: number;
  readonly text: string;
}

export interface Page {
  /** From the root of the repository. */
  readonly file: string;
  readonly blocks: readonly Block[];
  /** Targets as they are written. */
  readonly links: readonly Place[];
  readonly spans: readonly Place[];
  /** Without the signs of Markdown. */
  readonly headings: readonly Place[];
  /** Between `---` at the top; empty where there is none. */
  readonly frontMatter: string;
}

export interface Problem extends Place {
  readonly file: string;
}

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
/** A row of a table, a heading or an item of a list is a text of its own: a sign that is forgotten there reaches no further. */
const OWN_TEXT = /^\s*(?:\||#{1,6}\s|[-*+]\s|\d+\.\s)/;

/** Reads the Markdown that this project's pages are written in: fences, headings, tables, links and spans, as CommonMark has them. */
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

/** Lines keep their numbers. */
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

/** Links and spans of one text. What stands in a span is no link. */
function readText({ line, text }: Place): { readonly spans: readonly Place[]; readonly links: readonly Place[] } {
  const lineAt = (index: number) => line + text.slice(0, index).split('\n').length - 1;
  const spans: Place[] = [];
  const words = text.replace(
    /\\.|(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g,
    (whole, ticks: string | undefined, code: string | undefined, index: number) => {
      if (ticks === undefined || code === undefined) return whole;
      // In a table a bar within a span is written \|.
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

/** A heading as people read it. */
function plain(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/(?<![\w*])\*([^*]+)\*/g, '$1')
    .replaceAll('`', '');
}
