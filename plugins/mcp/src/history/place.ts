import { join } from 'node:path';

const HOUR_MS = 3_600_000;
/** Ids come from Discord, but a path is not the place to rely on it. */
const ID = /^\d{1,20}$/;

/** Where the calls of one channel lie: `{root}/{botId}/{channelId}`. */
export function channelFolder(root: string, botId: string, channelId: string): string {
  for (const id of [botId, channelId]) if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return join(root, botId, channelId);
}

/** `2026-11-21-22`, in UTC: the file in which what ended at that time is kept. */
export function hourOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 13).replace('T', '-');
}

/** The first moment after the hour of `timeMs`. */
export function endOfHour(timeMs: number): number {
  return (Math.floor(timeMs / HOUR_MS) + 1) * HOUR_MS;
}

const FILE = /^(\d{4}-\d{2}-\d{2}-\d{2})\.jsonl$/;

export const fileName = (hour: string): string => `${hour}.jsonl`;

/** The hour of a file, or `undefined` for a file that is not one of ours. */
export function hourOfFile(name: string): string | undefined {
  return FILE.exec(name)?.[1];
}
