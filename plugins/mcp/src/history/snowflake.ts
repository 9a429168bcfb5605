const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** The least id that something made at that time can have. https://docs.discord.com/developers/reference#snowflakes */
export function snowflakeAt(timeMs: number): string {
  return (BigInt(Math.max(0, timeMs - DISCORD_EPOCH_MS)) << 22n).toString();
}

/** When what has this id was made, in ms since the epoch. */
export function timeOfSnowflake(id: string): number {
  return Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS;
}

/** Ids in the order in which they were made. */
export function byAge(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);
}
