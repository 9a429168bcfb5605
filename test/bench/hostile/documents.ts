import { deflateSync } from 'node:zlib';
import { cardV2, chunk, iTXt, json, png, tEXt, zTXt } from '../../plugins/persona/cards.js';

const MB = 1024 * 1024;
const repeat = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));

/** Web pages of at most 2 MB, the limit of the reader. */
export const PAGES: Readonly<Record<string, string>> = {
  'nested elements, 293 KB': repeat('<div>', 293 * 1024),
  'nested elements, 2 MB': repeat('<div>', 2 * MB),
  'nested lists': repeat('<ul><li>', 2 * MB),
  'nested tables': repeat('<table><tr><td>', 2 * MB),
  'elements closed that were never opened': repeat('<b>', MB) + repeat('</i>', MB - 16),
  'one element with 400,000 attributes': `<a ${repeat('b=c ', 2 * MB - 16)}>`,
  'a comment without end': `<!--${repeat('-', 2 * MB - 16)}`,
  'entities without end': repeat('&amp', 2 * MB),
  'pictures in pictures': repeat('<svg>', 2 * MB),
  'line breaks': repeat('<br>', 2 * MB),
};

/** Files that are imported as character cards, of at most 8 MB. */
export const CARDS: Readonly<Record<string, () => Buffer>> = {
  'a PNG of 8 MB with one packed text again and again': () => filled(zTXt('chara', Buffer.alloc(2 * MB, 'A'))),
  'a PNG of 8 MB with 600,000 empty texts': () => filled(chunk('tEXt', Buffer.from('a\0'))),
  'a PNG that unpacks to 1 GB': () =>
    png(chunk('iTXt', Buffer.concat([Buffer.from('ccv3\0\u0001\0en\0\0'), gigabyte()]))),
  'a PNG whose text is not what it says': () => png(iTXt('ccv3', Buffer.alloc(2 * MB, '['))),
  'a card with a million arrays': () => card({ extensions: { deep: Array.from({ length: 400_000 }, () => [[]]) } }),
  'a card with arrays 500,000 deep': () =>
    Buffer.from(
      JSON.stringify(cardV2()).replace(
        '"some/tool":{"depth":4}',
        `"deep":${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      ),
    ),
  'a card with 500,000 tags': () => card({ tags: Array.from({ length: 500_000 }, () => '') }),
  'a card whose name is invisible for 2 MB': () =>
    png(tEXt('chara', json(cardV2({ name: '\u200b'.repeat(600_000) })).toString('base64'))),
};

/** Calls of the hostile MCP server's tools: name and arguments. Each runs in a separate process. */
export const CALLS: Readonly<Record<string, readonly [tool: string, input: Readonly<Record<string, unknown>>]>> = {
  'arguments with a schema of 2^40 checks': ['endless', { a: 1 }],
  'a result with a pattern that backtracks': ['mismatch', {}],
  'a result with a pattern that refers back': ['unending', {}],
  'a result of 300 KB': ['big', {}],
  'a line without end': ['flood', { to: 'stdout', chunk: 'x' }],
  'a message of brackets without end': ['flood', { to: 'stdout', chunk: '[' }],
  'lines without end': ['flood', { to: 'stdout', chunk: '\n' }],
  'errors without a line feed': ['flood', { to: 'stderr', chunk: 'x' }],
};

/** Pinned `.config` messages of Discord's maximum length. */
export const PINS: Readonly<Record<string, string>> = {
  brackets: `a: ${repeat('[', 1_900)}`,
  'aliases that multiply': [
    'a0: &a0 [x,x,x,x,x,x,x,x,x]',
    ...Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${repeat(`*a${at},`, 150)}*a${at}]`),
  ].join('\n'),
  'keys without end': Array.from({ length: 900 }, (_, at) => `k${at}:`)
    .join('\n')
    .slice(0, 1_900),
  'a text without end': `a: "${repeat('x\n', 1_900)}`,
};

const card = (data: Readonly<Record<string, unknown>>) => json(cardV2(data)).subarray(0, 8 * MB);

/** A PNG of nearly 8 MB that repeats one chunk as often as possible. */
function filled(one: Buffer): Buffer {
  return png(Buffer.concat(Array.from({ length: Math.floor((7.9 * MB) / one.length) }, () => one)));
}

function gigabyte(): Buffer {
  return deflateSync(Buffer.alloc(1024 * MB), { level: 9 });
}
