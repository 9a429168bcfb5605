import type { PlainRecord } from './plain.js';

export const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];
/** For winston: the least number is the most important. */
export const LEVEL_NUMBERS = { error: 0, warn: 1, info: 2, debug: 3, trace: 4 } as const satisfies Record<
  Level,
  number
>;

/** One line of a log: what the host says of itself first, then the ids and facts of the entry. */
export interface Entry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Level;
  readonly component: string;
  readonly message: string;
  readonly fields: PlainRecord;
}

const OWN = ['time', 'level', 'component', 'message'];

/** Flat, so that any log reader finds `guildId` at the top; a field that is called like one of the host's own gets a `_`. */
export function flat(entry: Entry): PlainRecord {
  const { time, level, component, message } = entry;
  const fields = Object.entries(entry.fields).map(([key, value]) => [OWN.includes(key) ? `${key}_` : key, value]);
  return { time, level, component, message, ...Object.fromEntries(fields) };
}
