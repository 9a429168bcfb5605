import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';

/*
 * Ids of Discord: 64-bit numbers as decimal text, whose order is the order of creation.
 * https://discord.com/developers/docs/reference#snowflakes
 */

/** Older than every id. */
export const OLDEST_ID = '0';

/** For `sort`, the oldest first: negative when `a` is older than `b`. */
export function compareIds(a: string, b: string): -1 | 0 | 1 {
  return Snowflake.compare(a, b);
}

export function newerId(a: string, b: string): string {
  return compareIds(a, b) >= 0 ? a : b;
}

export function olderId(a: string, b: string): string {
  return compareIds(a, b) <= 0 ? a : b;
}

/** The next higher id, whether or not it exists: `before: idAfter(id)` includes `id`. */
export function idAfter(id: string): string {
  return String(BigInt(id) + 1n);
}

/** The next lower id, whether or not it exists: `after: idBefore(id)` includes `id`. */
export function idBefore(id: string): string {
  return id === OLDEST_ID ? OLDEST_ID : String(BigInt(id) - 1n);
}

/** When the id was created, in milliseconds since the Unix epoch. */
export function createdAt(id: string): number {
  return DiscordSnowflake.timestampFrom(id);
}

/** The lowest id of a moment: every id created from then on is at least that high. */
export function idAt(timeMs: number): string {
  const sinceEpoch = Math.max(0, timeMs - DiscordSnowflake.epochNumber);
  return String(BigInt(Math.floor(sinceEpoch)) << 22n);
}
