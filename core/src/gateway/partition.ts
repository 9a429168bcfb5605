/**
 * Which servers a host serves. A cluster divides all servers into a fixed number of groups. It uses the bits of a server's id by which Discord divides shards,
 * so that a group consists of whole shards whenever the number of shards is a multiple of the number of groups. Everything that belongs to no server belongs to
 * group 0.
 */
export interface Partition {
  /** Starts at 0. */
  readonly group: number;
  readonly groups: number;
  /** @param guildId `null` for data without a server: direct messages, the application, notices to owners */
  owns(guildId: string | null): boolean;
}

/** https://discord.com/developers/docs/events/gateway#sharding-sharding-formula */
const TIMESTAMP_SHIFT = 22n;

/** The group that a server belongs to. */
export function groupOf(guildId: string | null, groups: number): number {
  return guildId === null || groups === 1 ? 0 : Number((BigInt(guildId) >> TIMESTAMP_SHIFT) % BigInt(groups));
}

export function createPartition(group: number, groups: number): Partition {
  return { group, groups, owns: (guildId) => groupOf(guildId, groups) === group };
}

/** The partition of a single host: it serves everything. */
export const EVERYTHING: Partition = createPartition(0, 1);

/** The smallest number of shards that satisfies Discord's recommendation and is a multiple of the groups. */
export function shardCountFor(recommended: number, groups: number): number {
  return Math.ceil(Math.max(1, recommended) / groups) * groups;
}

/** The shards of a group. */
export function shardsOf({ group, groups }: Partition, shardCount: number): readonly number[] {
  return Array.from({ length: shardCount / groups }, (_, index) => group + index * groups);
}
