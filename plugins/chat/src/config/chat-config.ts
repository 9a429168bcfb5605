import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ConfigLayer, type Configuration, type Logger, matchesWildcard, readYaml } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { PinnedConfig } from '../history/types.js';
import {
  build,
  type Entries,
  type Entry,
  fold,
  merge,
  originsOf,
  type Reading,
  readEntries,
  valueAt,
} from './entries.js';
import { readSettings } from './guild-settings.js';
import type { KeyScope } from './keys.js';
import { type ChatConfig, isTruncation, LEAVES, type Leaf } from './schema.js';

const KEPT_PINS = 500;

interface ChatConfigParts {
  readonly configuration: Configuration;
  /** What the admins of a guild have set; keys that are not set are left out or `undefined`. */
  settingsOf(guildId: string): Promise<Readonly<Record<string, unknown>>>;
  readonly log: Logger;
}

/** Builds the view of the configuration that is in force in a channel. */
export function createChatConfig({ configuration, settingsOf, log }: ChatConfigParts): ChatConfig {
  const readings = new WeakMap<ConfigLayer, Reading>();
  const pinReadings = new LRUCache<string, { readonly yaml: string; readonly reading: Reading }>({ max: KEPT_PINS });
  const tell = createTeller(log);

  /** A file that has not changed is the same object. */
  const readFile = (layer: ConfigLayer): Reading => {
    const known = readings.get(layer);
    if (known !== undefined) return known;
    const originOf = (path: readonly string[]) => `${layer.source}:${layer.lineOf(path)}`;
    const reading = readEntries(layer.values, { originOf, file: true });
    readings.set(layer, reading);
    return reading;
  };

  /** Read again only when it says something else: fifty pins, written to be slow to read, would cost every answer a second. */
  const readOnce = async (pin: PinnedConfig): Promise<Reading> => {
    const known = pinReadings.get(pin.messageId);
    if (known?.yaml === pin.yaml) return known.reading;
    // Other work goes on between one and the next.
    await nextTurn();
    const reading = readPin(pin);
    pinReadings.set(pin.messageId, { yaml: pin.yaml, reading });
    return reading;
  };

  return {
    async refusalOf(guildId, key, value) {
      let files: Entries = new Map();
      for (const layer of await configuration.layers(guildId)) files = merge(files, readFile(layer).entries);
      const { problems } = restrict(files, readSettings({ [key]: value }), 'guild');
      return problems[0]?.replace(/^[^:]*: [^:]*: /, '');
    },
    async forChannel({ guildId, pins }) {
      const problems: string[] = [];
      let entries: Entries = new Map();
      const lay = (reading: Reading) => {
        entries = merge(entries, reading.entries);
        problems.push(...reading.problems);
      };
      for (const layer of await configuration.layers(guildId)) lay(readFile(layer));
      if (guildId !== null) lay(restrict(entries, readSettings(await settingsOf(guildId)), 'guild'));
      for (const pin of pins) lay(restrict(entries, await readOnce(pin), 'channel'));
      problems.push(...wrongTruncation(entries));
      for (const problem of problems) tell(problem);
      return { config: build(entries), origin: originsOf(entries), problems };
    },
  };
}

function wrongTruncation(entries: Entries): readonly string[] {
  const set = entries.get('truncateToTokens');
  const limit = valueAt(entries, 'maxContextTokens');
  if (typeof set?.value !== 'number' || typeof limit !== 'number' || isTruncation(set.value, limit)) return [];
  return [
    `${set.origin}: truncateToTokens: must be at most 9 tenths of maxContextTokens (${limit}); 6 tenths are used`,
  ];
}

/** Anybody may write pins, and edit them as often as they like. */
const MOST_TOLD = 1_000;

/** Tells each problem once. */
function createTeller(log: Logger): (problem: string) => void {
  const told = new Set<string>();
  return (problem) => {
    if (told.has(problem)) return;
    if (told.size >= MOST_TOLD) told.clear();
    told.add(problem);
    log.warn(problem);
  };
}

/** Discord's longest message has 4,000 characters. */
const LARGEST_BYTES = 16_000;

/** Reads what a pinned message says below its first line. Lines are counted from there. */
function readPin({ messageId, yaml }: PinnedConfig): Reading {
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

/**
 * Takes out of a layer what whoever wrote it may not set.
 * @param below what holds without the layer
 * @param by an admin of the guild, or whoever may pin messages in the channel
 */
function restrict(below: Entries, { entries, problems }: Reading, by: Exclude<KeyScope, 'files'>): Reading {
  const kept = new Map<string, Entry>();
  const more: string[] = [];
  for (const [path, entry] of entries) {
    const leaf = LEAVES.get(path);
    const refusal = leaf === undefined ? 'there is no such key' : refusalOf(leaf, entry.value, below, by);
    if (refusal === undefined) kept.set(path, entry);
    else more.push(`${entry.origin}: ${path}: ${refusal}`);
  }
  return { entries: kept, problems: [...problems, ...more] };
}

function refusalOf(
  { path, scope, lowerOnly }: Leaf,
  value: unknown,
  below: Entries,
  by: Exclude<KeyScope, 'files'>,
): string | undefined {
  if (scope === 'files') return 'can be set in the configuration files only';
  if (scope === 'guild' && by === 'channel') return 'can be set by admins only, with `!set chat`';
  const present = valueAt(below, path) ?? impliedAt(below, path);
  if (lowerOnly && rises(present, value)) return `may be lowered here, not raised above ${String(present)}`;
  if (path === 'continuationModel' && value !== present && !isAllowed(value, valueAt(below, 'allowedModels')))
    return `the model ${String(value)} is not one of allowedModels`;
  return undefined;
}

/** What a key that costs money comes to where it is not set. */
function impliedAt(below: Entries, path: string): number | undefined {
  const { recencyWindow, truncateToTokens } = build(below);
  if (path === 'rollingThreshold') return recencyWindow;
  return path === 'truncateToTokens' ? truncateToTokens : undefined;
}

function rises(present: unknown, value: unknown): boolean {
  if (typeof value === 'boolean') return value && present !== true;
  return typeof value !== 'number' || typeof present !== 'number' || value > present;
}

function isAllowed(model: unknown, allowed: unknown): boolean {
  if (typeof model !== 'string' || !Array.isArray(allowed)) return false;
  return allowed.some((pattern) => typeof pattern === 'string' && matchesWildcard(model, pattern));
}
