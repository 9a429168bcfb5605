import { type Collection, z } from '@cinnabar/sdk';

/** What reaches the agents from a channel: everything, what is said to them, that and digests, or nothing. */
export const CHANNEL_MODES = ['always', 'mention', 'digest', 'off'] as const;
export type ChannelMode = (typeof CHANNEL_MODES)[number];

const agent = z.object({
  /** At the Letta server. */
  agentId: z.string(),
  /** As admins wrote it; its key is the same in lower case. */
  name: z.string(),
  /** Where it answers before others; everywhere else the default agent does. */
  channels: z.array(z.string()).default([]),
  /** Address of its picture; the bot's own where there is none. */
  avatar: z.string().optional(),
});

/** A guild's agents, and what reaches them. */
export const rosters = {
  scope: 'guild',
  version: 1,
  schema: z.object({
    enabled: z.boolean().default(false),
    paused: z.boolean().default(false),
    agents: z.record(z.string(), agent).default({}),
    defaultAgent: z.string().optional(),
    /** By channel; `mention` where there is none. */
    modes: z.record(z.string(), z.enum(CHANNEL_MODES)).default({}),
  }),
} as const;

export type Roster = z.output<typeof rosters.schema>;
export type GuildAgent = Roster['agents'][string];

/** Every guild's roster, in memory: a message that is for no agent costs one look-up. */
export interface Rosters {
  /** `undefined` where no admin has ever set anything up. */
  of(guildId: string): Roster | undefined;
  /** Where agents are switched on. */
  enabled(guildId: string | null): Roster | undefined;
  /** Written before it holds. */
  update(guildId: string, change: (draft: Roster) => unknown): Promise<Roster>;
  all(): Iterable<readonly [guildId: string, roster: Roster]>;
}

export async function openRosters(kept: Collection<Roster, 'guild'>): Promise<Rosters> {
  const known = new Map<string, Roster>();
  for await (const [guildId, roster] of kept.entries()) known.set(guildId, roster);
  return {
    of: (guildId) => known.get(guildId),
    enabled(guildId) {
      const roster = guildId === null ? undefined : known.get(guildId);
      return roster?.enabled === true ? roster : undefined;
    },
    async update(guildId, change) {
      const roster = await kept.of(guildId).update(change);
      known.set(guildId, roster);
      return roster;
    },
    all: () => known.entries(),
  };
}

/** @param places the channel, then the ones that it belongs to */
export function modeOf({ modes }: Roster, places: readonly string[]): ChannelMode {
  return places.map((id) => modes[id]).find((mode) => mode !== undefined) ?? 'mention';
}
