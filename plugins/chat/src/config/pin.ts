import { readYaml } from '@cinnabar/sdk';
import { fold } from './closest.js';
import { type Reading, readEntries } from './entries.js';
import { LEAVES } from './leaves.js';
import type { PinnedConfig } from './types.js';

const FIRST_LINE = /^\s*\.config(?=\s|$)[ \t]*([^\r\n]*)(?:\r?\n|$)/i;
const FENCE = /^\s*```[\w-]*[ \t]*(?:\r?\n|$)/;
/** Discord's longest message has 4,000 characters. */
const LARGEST_BYTES = 16_000;

/** Whether a message is a configuration for channels: its first line is `.config`, maybe with names of bots. */
export function isPinnedConfig(content: string): boolean {
  return FIRST_LINE.test(content);
}

/**
 * Reads a pinned message: `.config`, or `.config claude` for one bot alone, then YAML, maybe in a code block.
 * @param names what this bot is called; upper and lower case do not matter
 * @returns `undefined` when it is for another bot
 */
export function readPin({ messageId, yaml: content }: PinnedConfig, names: readonly string[]): Reading | undefined {
  const [firstLine = '', addressed = ''] = FIRST_LINE.exec(content) ?? [];
  if (!isFor(addressed, names)) return undefined;
  const fence = FENCE.exec(content.slice(firstLine.length))?.[0] ?? '';
  const head = content.slice(0, firstLine.length + fence.length);
  const body = content.slice(head.length);
  const text = fence === '' ? body : body.replace(/```\s*$/, '');
  // Lines are counted as the person sees them in the message.
  const linesBefore = head.split('\n').length - 1;

  const at = (line: number) => `pin ${messageId}:${line + linesBefore}`;
  const reading = readYaml(text, { maxBytes: LARGEST_BYTES });
  if (!reading.ok) return { entries: new Map(), problems: [`${at(reading.line)}: ${reading.problem}`] };
  const theirs = new Map(Object.keys(reading.values).map((key) => [keyHere(key), key]));
  const values = Object.fromEntries([...theirs].map(([key, written]) => [key, reading.values[written]]));
  return readEntries(values, {
    originOf: ([key = '', ...inner]) => at(reading.lineOf([theirs.get(key) ?? key, ...inner])),
    file: false,
  });
}

function isFor(addressed: string, names: readonly string[]): boolean {
  const wanted = addressed
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  return wanted.length === 0 || names.some((name) => wanted.includes(name.toLowerCase()));
}

/** Pins of other bots of this family say `recency_window`. */
function keyHere(written: string): string {
  return [...LEAVES.keys()].find((path) => fold(path) === fold(written)) ?? written;
}
