import type { Prefixes } from '@cinnabar/sdk';
import { TOOL_POLICIES, UserError, z } from '@cinnabar/sdk';
import type { EnabledIn, GuildState, GuildStates } from '../contracts.js';

/** The shape in which a guild's state is stored. */
export const guildStateSchema = z.object({
  plugins: z.record(z.string(), z.boolean()).default({}),
  prefixes: z.array(z.string()).optional(),
  toolPolicies: z.record(z.string(), z.enum(TOOL_POLICIES)).default({}),
  modRoles: z.array(z.string()).default([]),
  adminRoles: z.array(z.string()).default([]),
});
type StoredState = z.output<typeof guildStateSchema>;

/** One stored document per guild. */
export interface GuildDocuments {
  get(guildId: string): Promise<StoredState>;
  /** Serialised per guild; saved before it resolves. */
  update(guildId: string, change: (draft: StoredState) => StoredState): Promise<StoredState>;
}

const asState = (stored: StoredState): GuildState => ({ ...stored, prefixes: stored.prefixes });

/** Guild states in memory, read once per guild, written before they are visible. */
export function createGuildStates(documents: GuildDocuments): GuildStates {
  const known = new Map<string, GuildState>();
  const loading = new Map<string, Promise<GuildState>>();

  const read = async (guildId: string) => {
    try {
      const state = asState(await documents.get(guildId));
      known.set(guildId, state);
      return state;
    } finally {
      loading.delete(guildId);
    }
  };

  return {
    peek: (guildId) => known.get(guildId),
    load(guildId) {
      const state = known.get(guildId);
      if (state !== undefined) return Promise.resolve(state);
      const pending = loading.get(guildId) ?? read(guildId);
      loading.set(guildId, pending);
      return pending;
    },
    async update(guildId, change) {
      const saved = await documents.update(guildId, (draft) => {
        const next = change(asState(draft));
        return {
          plugins: { ...next.plugins },
          toolPolicies: { ...next.toolPolicies },
          modRoles: [...next.modRoles],
          adminRoles: [...next.adminRoles],
          ...(next.prefixes === undefined ? {} : { prefixes: [...next.prefixes] }),
        };
      });
      const state = asState(saved);
      known.set(guildId, state);
      return state;
    },
  };
}

/** Whether a plugin is on somewhere: what the guild's admins chose, else the manifest's default. */
export function createEnabledIn(states: GuildStates): EnabledIn {
  return (guildId, plugin) => {
    const byDefault = plugin.manifest.enabledByDefault ?? true;
    if (guildId === null) return byDefault;
    return states.peek(guildId)?.plugins[plugin.manifest.id] ?? byDefault;
  };
}

const LONGEST_PREFIX = 10;
const MOST_PREFIXES = 10;

/** Prefixes by guild, over the guild states. */
export function createPrefixes(states: GuildStates, defaults: readonly string[]): Prefixes {
  const get = (guildId: string | null) => (guildId === null ? defaults : (states.peek(guildId)?.prefixes ?? defaults));
  const save = async (guildId: string, prefixes: readonly string[] | undefined) => {
    await states.update(guildId, (draft) => ({ ...draft, prefixes }));
    return get(guildId);
  };
  return {
    get,
    async add(guildId, prefix) {
      const current = get(guildId);
      if (prefix.trim() === '' || prefix.length > LONGEST_PREFIX || /\s/.test(prefix)) {
        throw new UserError(`A prefix is 1 to ${LONGEST_PREFIX} characters without spaces.`);
      }
      if (prefix.startsWith('/') || prefix.startsWith('<@')) {
        throw new UserError('A prefix cannot start with / or be a mention: Discord uses those itself.');
      }
      if (current.includes(prefix)) throw new UserError(`${prefix} is a prefix here already.`);
      if (current.length >= MOST_PREFIXES) throw new UserError(`There can be at most ${MOST_PREFIXES} prefixes.`);
      return save(guildId, [...current, prefix]);
    },
    async remove(guildId, prefix) {
      const current = get(guildId);
      if (!current.includes(prefix)) throw new UserError(`${prefix} is not a prefix here.`);
      return save(
        guildId,
        current.filter((other) => other !== prefix),
      );
    },
    reset: (guildId) => save(guildId, undefined),
  };
}
