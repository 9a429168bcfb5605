/**
 * Which servers a host serves. A cluster divides all servers into a number of groups that stays the same as long as the cluster lives: by the bits
 * of a server's id that Discord divides shards by, so that a group is a set of whole shards whenever their number is a multiple of the groups'.
 * What belongs to no server belongs to group 0.
 */
export interface Partition {
  /** From 0. */
  readonly group: number;
  readonly groups: number;
  /** @param guildId `null` for what belongs to no server: direct messages, the application, notices to owners */
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

/** The partition of a host that is alone: everything is its own. */
export const EVERYTHING: Partition = createPartition(0, 1);

/** The least number of shards that Discord's recommendation allows and that the groups divide evenly. */
export function shardCountFor(recommended: number, groups: number): number {
  return Math.ceil(Math.max(1, recommended) / groups) * groups;
}

/** The shards of a group. */
export function shardsOf({ group, groups }: Partition, shardCount: number): readonly number[] {
  return Array.from({ length: shardCount / groups }, (_, index) => group + index * groups);
}
