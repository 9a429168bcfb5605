import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConfigLayer, Configuration, Logger } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { PinnedConfig } from '../history/types.js';
import { type Entries, type Reading, readEntries } from './entries.js';
import { readSettings } from './guild-settings.js';
import { build, merge, originsOf, valueAt } from './merge.js';
import { readPin } from './pin.js';
import { restrict } from './restrict.js';
import { isTruncation } from './schema.js';
import type { ChatConfig } from './types.js';

const KEPT_PINS = 500;

export interface ChatConfigParts {
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
