import { Tokenizer } from 'htmlparser2';

/** Elements that are skipped with their content. */
const SKIPPED = new Set(['script', 'style', 'nav', 'svg', 'noscript', 'template', 'iframe', 'object']);
/** Elements that start and end a paragraph. */
const PARAGRAPHS = new Set(
  'address article aside blockquote dl details fieldset figure footer form h1 h2 h3 h4 h5 h6 header main ol p pre section table title ul'.split(
    ' ',
  ),
);
/** Elements that start on a new line. */
const LINES = new Set('caption dd div dt figcaption legend li option summary tr'.split(' '));
const CELLS = new Set(['td', 'th']);
const LONGEST_NAME = 16;
const DEEPEST_LIST = 8;

/**
 * Extracts the text of an HTML document, without scripts, styles and navigation. It reads tags one by one and builds no tree, so the time is proportional to
 * the length for any nesting: a parser that keeps a stack of open elements needs minutes for 2 MB of `<div>`.
 */
export function htmlToText(html: string): string {
  const out = createWriter();
  const skipping = new Map<string, number>();
  /** The next item numbers of the open lists; `undefined` for a list without numbers. */
  const lists: (number | undefined)[] = [];
  let preformatted = 0;
  let current = '';

  const openList = (isNumbered: boolean) => {
    // A nested list begins on the next line.
    out.atLeast(lists.length > 0 ? 1 : 2);
    if (lists.length < DEEPEST_LIST) lists.push(isNumbered ? 0 : undefined);
  };

  const open = (name: string) => {
    if (SKIPPED.has(name)) skipping.set(name, (skipping.get(name) ?? 0) + 1);
    if (skipping.size > 0) return;
    if (name === 'br') out.line();
    else if (name === 'hr') out.rule();
    else if (name === 'li') out.item(lists);
    else if (isList(name)) openList(name === 'ol');
    else around(name);
    if (name === 'pre') preformatted += 1;
  };

  const close = (name: string) => {
    const depth = skipping.get(name);
    if (depth !== undefined) {
      if (depth > 1) skipping.set(name, depth - 1);
      else skipping.delete(name);
      return;
    }
    if (skipping.size > 0) return;
    if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
    if (isList(name)) {
      lists.pop();
      out.atLeast(lists.length > 0 ? 1 : 2);
    } else around(name);
  };

  const around = (name: string) => {
    if (PARAGRAPHS.has(name)) out.atLeast(2);
    else if (LINES.has(name)) out.atLeast(1);
    else if (CELLS.has(name)) out.space();
  };

  const say = (text: string) => {
    if (skipping.size === 0) out.text(text, preformatted > 0);
  };
  const nothing = () => undefined;
  const nameAt = (start: number, end: number) =>
    end - start > LONGEST_NAME ? '' : html.slice(start, end).toLowerCase();

  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (start, end) => say(html.slice(start, end)),
      ontextentity: (codepoint) => say(String.fromCodePoint(codepoint)),
      onopentagname(start, end) {
        current = nameAt(start, end);
        open(current);
      },
      onselfclosingtag() {
        if (current === 'svg') close(current);
      },
      onclosetag: (start, end) => close(nameAt(start, end)),
      onopentagend: nothing,
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return out.done();
}

const isList = (name: string) => name === 'ul' || name === 'ol';

/** Collects text. White space and line breaks are written only before the next word, so that they never accumulate. */
function createWriter() {
  const parts: string[] = [];
  let breaks = 0;
  let space = false;

  const flush = () => {
    if (parts.length > 0) {
      if (breaks > 0) parts.push('\n'.repeat(breaks));
      else if (space) parts.push(' ');
    }
    breaks = 0;
    space = false;
  };
  const write = (text: string) => {
    flush();
    parts.push(text);
  };
  const atLeast = (lines: number) => {
    breaks = Math.max(breaks, lines);
  };
  return {
    atLeast,
    line: () => atLeast(Math.min(breaks + 1, 2)),
    space() {
      space = true;
    },
    rule() {
      atLeast(2);
      write('---');
      atLeast(2);
    },
    item(lists: (number | undefined)[]) {
      atLeast(1);
      const number = lists.at(-1);
      if (number !== undefined) lists[lists.length - 1] = number + 1;
      write(`${'  '.repeat(Math.max(0, lists.length - 1))}${number === undefined ? '*' : `${number + 1}.`} `);
    },
    text(text: string, isPreformatted: boolean) {
      if (isPreformatted) return write(text);
      // A non-breaking space (`&nbsp;`) separates words like any other.
      const words = text.replace(/\s+/g, ' ');
      const bare = words.trim();
      if (words.startsWith(' ')) space = true;
      if (bare === '') return;
      write(bare);
      space = words.endsWith(' ');
    },
    done: () => parts.join('').trim(),
  };
}
