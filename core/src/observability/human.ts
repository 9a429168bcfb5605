import { styleText } from 'node:util';
import type { Entry, Level } from './entry.js';
import { oneLine } from './escape.js';
import type { Plain, PlainRecord } from './plain.js';

const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray', trace: 'gray' } as const satisfies Record<
  Level,
  string
>;
/** Stack frames shown on a terminal; the files have them all. */
const FRAMES = 8;

/**
 * An entry for people. Every line but the first is indented, and control characters are escaped, so that nothing that was logged can pass for
 * an entry of its own.
 */
export function humanText(entry: Entry, colours: boolean): string {
  const level = entry.level.padEnd(5);
  const paint = (text: string, colour: 'red' | 'yellow' | 'green' | 'gray') =>
    colours ? styleText(colour, text, { validateStream: false }) : text;
  const details = Object.entries(entry.fields);
  const errors = details.filter(([, value]) => isError(value));
  const short = details
    .filter(([, value]) => !isError(value))
    .map(([key, value]) => `${oneLine(key)}=${oneText(value)}`);
  const head = [
    paint(entry.time, 'gray'),
    paint(level, COLOURS[entry.level]),
    `${oneLine(entry.component)}:`,
    oneLine(entry.message),
    ...(short.length > 0 ? [paint(short.join(' '), 'gray')] : []),
  ].join(' ');
  return [head, ...errors.flatMap(([, value]) => errorLines(value))].join('\n');
}

function isError(value: Plain): value is PlainRecord {
  return typeof value === 'object' && value !== null && 'stack' in value;
}

function oneText(value: Plain): string {
  if (typeof value === 'string') return /^[\w.:/@-]+$/.test(value) ? value : oneLine(JSON.stringify(value));
  return oneLine(JSON.stringify(value));
}

function errorLines(value: Plain): readonly string[] {
  if (!isError(value)) return [`    ${oneText(value)}`];
  const { stack, code, cause, ...rest } = value;
  const lines = String(stack).split('\n');
  const shown = lines.slice(0, FRAMES + 1).map((line) => `    ${oneLine(line.trimEnd())}`);
  const facts = Object.entries(rest).filter(([key]) => key !== 'name' && key !== 'message' && key !== 'params');
  return [
    ...shown,
    ...(lines.length > FRAMES + 1 ? [`        … ${lines.length - FRAMES - 1} more lines`] : []),
    ...(code === undefined ? [] : [`    code: ${oneText(code)}`]),
    ...facts.map(([key, fact]) => `    ${oneLine(key)}: ${oneText(fact)}`),
    ...(cause === undefined ? [] : ['    caused by', ...errorLines(cause)]),
  ];
}
