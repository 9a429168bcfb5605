import fc from 'fast-check';

/** An independent parser of fences: the marker of the fence that is open after `text`, if any. */
export function openFence(text: string): string | undefined {
  let open: { marker: string; indent: number; quotes: string } | undefined;
  for (const line of text.split('\n')) {
    const quotes = /^[\s>]*>/.exec(line)?.[0] ?? '';
    if (open !== undefined && !quotes.startsWith(open.quotes)) open = undefined;
    if (open === undefined) {
      const [, prefix = '', marker, info = ''] = /^((?:[\s>]|[-*+]\s|\d+[.)]\s)*?)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
      if (marker === undefined || (marker.startsWith('`') && info.includes('`'))) continue;
      open = { marker, indent: prefix.length, quotes };
    } else {
      const [, indent = '', marker] = /^(\s*)(`{3,}|~{3,})\s*$/.exec(line.slice(open.quotes.length)) ?? [];
      const column = open.quotes.length + indent.length;
      if (marker?.startsWith(open.marker) === true && column <= open.indent + 3) open = undefined;
    }
  }
  return open?.marker;
}

/**
 * Whether the parts form the source again without the fence lines inserted at the cuts, ignoring white space. A cut may or may not have inserted a pair, so
 * both readings are tried.
 */
export function isReconstruction(parts: readonly string[], source: string): boolean {
  const wanted = dense(source);
  let reached = new Set([0]);
  for (const [index, part] of parts.entries()) {
    const bodies = readings(part, index > 0);
    reached = new Set(
      [...reached].flatMap((at) =>
        bodies.filter((body) => wanted.startsWith(body, at)).map((body) => at + body.length),
      ),
    );
  }
  return reached.has(wanted.length);
}

/** The possible contents of a part: with or without its first and its last line, if those are fences. */
function readings(part: string, continued: boolean): string[] {
  const whole = dense(part);
  const first = dense(part.slice(0, part.indexOf('\n') + 1));
  const last = dense(part.slice(part.lastIndexOf('\n') + 1));
  const starts = ['', ...(continued ? [first, `${first}>`, `${first}>>`] : [])].filter((line) => isFenceLine(line));
  const ends = ['', last].filter((line) => isFenceLine(line));
  return starts
    .filter((start) => whole.startsWith(start))
    .flatMap((start) =>
      ends.map((end) => whole.slice(start.length, Math.max(start.length, whole.length - end.length))),
    );
}

function isFenceLine(text: string): boolean {
  return text === '' || /^>*(`{3,}|~{3,})/.test(text);
}

function dense(text: string): string {
  return text.replace(/\s+/g, '');
}

const word = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[a-z]{1,9}[.,!?]?$/) },
  fc.constantFrom(
    '🦊',
    '👨‍👩‍👧‍👦',
    'é',
    '世界。',
    '`a b c`',
    '``x ` y``',
    '[a link](https://a.example/b_(c))',
    '<@123>',
    '**bold**',
    '```',
  ),
);
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '));
const codeLine = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ a-z0-9(){};=]{0,30}$/) },
  fc.constantFrom('', '', '# ``` inside', 'const x = `a` + `b`;', '- item', '    ```'),
  fc.stringMatching(/^[a-z ]{40,200}$/),
);
const marker = fc.constantFrom('```', '````', '~~~', '~~~~~');
const prefix = fc.constantFrom('', '', '', '  ', '   ', '> ', '>> ', '- ', '1. ');

const fence = fc
  .tuple(prefix, marker, fc.constantFrom('', 'js', 'ts twoslash', 'diff'), fc.array(codeLine, { maxLength: 12 }))
  .map(([before, mark, info, code]) => {
    const inner = before.replace(/[-\d.]/g, ' ');
    const body = code.map((line) => (inner.includes('>') ? inner + line : line));
    return [before + mark + info, ...body, inner + mark].join('\n');
  });
const list = fc
  .array(sentence, { minLength: 1, maxLength: 6 })
  .map((items) => items.map((item) => `- ${item}`).join('\n'));
const open = fc.tuple(marker, fc.array(codeLine, { maxLength: 12 })).map(([mark, code]) => [mark, ...code].join('\n'));

/** Documents like those of models, and stranger ones. */
export const markdownDocument = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof(sentence, fence, list, fc.stringMatching(/^[a-z]{1,300}$/)),
        fc.constantFrom('\n', '\n\n', '\n\n\n'),
      ),
      { minLength: 1, maxLength: 8 },
    ),
    fc.option(open, { nil: '', freq: 3 }),
  )
  .map(([blocks, end]) => blocks.flat().join('') + end);
