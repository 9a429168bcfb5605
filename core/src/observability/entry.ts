import type { PlainRecord } from './plain.js';

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

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
