import { readYaml } from '@cinnabar/sdk';
import type { PinnedConfig } from '../history/types.js';
import { fold } from './closest.js';
import { type Reading, readEntries } from './entries.js';
import { LEAVES } from './leaves.js';

/** Discord's longest message has 4,000 characters. */
const LARGEST_BYTES = 16_000;

/** Reads what a pinned message says below its first line. Lines are counted from there. */
export function readPin({ messageId, yaml }: PinnedConfig): Reading {
  const at = (line: number) => `pin ${messageId}:${line}`;
  const reading = readYaml(yaml, { maxBytes: LARGEST_BYTES });
  if (!reading.ok) return { entries: new Map(), problems: [`${at(reading.line)}: ${reading.problem}`] };
  const theirs = new Map(Object.keys(reading.values).map((key) => [keyHere(key), key]));
  const values = Object.fromEntries([...theirs].map(([key, written]) => [key, reading.values[written]]));
  return readEntries(values, {
    originOf: ([key = '', ...inner]) => at(reading.lineOf([theirs.get(key) ?? key, ...inner])),
    file: false,
  });
}

/** Pins of other bots of this family say `recency_window`. */
function keyHere(written: string): string {
  return [...LEAVES.keys()].find((path) => fold(path) === fold(written)) ?? written;
}
