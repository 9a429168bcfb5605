import { type Collection, type Manifest, type Prefixes, TOOL_POLICIES, t, UserError, z } from '@cinnabar/sdk';
import { accessRuleSchema } from '../access/rules.js';
import type { EnabledIn, GuildState, GuildStates, OwnerChoices, OwnerState } from '../contracts.js';

const guildStateSchema = z.object({
  plugins: z.record(z.string(), z.boolean()).default({}),
  prefixes: z.array(z.string()).optional(),
  toolPolicies: z.record(z.string(), z.enum(TOOL_POLICIES)).default({}),
  modRoles: z.array(z.string()).default([]),
  adminRoles: z.array(z.string()).default([]),
  accessRules: z.array(accessRuleSchema).default([]),
});
/** The collection of the guilds' states. */
export const guildStateDocuments = { scope: 'guild', version: 1, schema: guildStateSchema } as const;
type StoredState = z.output<typeof guildStateSchema>;

const asState = (stored: StoredState): GuildState => ({ ...stored, prefixes: stored.prefixes });

/** The state of every guild without stored settings: one shared object, since most of many thousand guilds have none. */
const UNTOUCHED: GuildState = Object.freeze({
  plugins: Object.freeze({}),
  prefixes: undefined,
  toolPolicies: Object.freeze({}),
  modRoles: Object.freeze([]),
  adminRoles: Object.freeze([]),
  accessRules: Object.freeze([]),
});

/** Called with the plugins that another process has switched on or off. */
type Switched = (plugins: readonly string[], guildId: string | null) => void;

/** The plugins for which two sets of choices differ. */
function switchedBetween(
  before: Readonly<Record<string, boolean>>,
  after: Readonly<Record<string, boolean>>,
): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((id) => before[id] !== after[id]);
}

/**
 * Guild states in memory, read once, written before they are visible. They are updated when another process changes them.
 * @param options.owns whether `documents` lists the guild if it has a state: a guild that is not listed has none then, and is otherwise read on demand
 */
export function createGuildStates(
  documents: Collection<StoredState, 'guild'>,
  options: { readonly onSwitched?: Switched; readonly owns?: (guildId: string) => boolean } = {},
): GuildStates {
  const { onSwitched = () => undefined, owns = () => true } = options;
  const known = new Map<string, GuildState>();
  const loading = new Map<string, Promise<GuildState>>();
  let others: GuildState | undefined;

  const peek = (guildId: string) => known.get(guildId) ?? (owns(guildId) ? others : undefined);

  const read = async (guildId: string) => {
    try {
      const stored = await documents.of(guildId).find();
      const state = stored === undefined ? UNTOUCHED : asState(stored);
      known.set(guildId, state);
      return state;
    } finally {
      loading.delete(guildId);
    }
  };

  const follow = async (guildId: string) => {
    const before = peek(guildId);
    // A state that is not in memory is read on demand.
    if (before === undefined) return;
    const plugins = switchedBetween(before.plugins, (await read(guildId)).plugins);
    if (plugins.length > 0) onSwitched(plugins, guildId);
  };
  documents.watch((guildId, { isRemote }) => {
    // While the database is unreachable, the known state is used; missed changes are reported when it is back.
    if (isRemote) follow(guildId).catch(() => undefined);
  });

  return {
    async open() {
      for await (const [guildId, stored] of documents.entries()) {
        // A state that is in memory was updated meanwhile, and is newer.
        if (!known.has(guildId)) known.set(guildId, asState(stored));
      }
      others = UNTOUCHED;
      for (const [guildId, state] of known) if (state === UNTOUCHED && owns(guildId)) known.delete(guildId);
    },
    peek,
    load(guildId) {
      const state = peek(guildId);
      if (state !== undefined) return Promise.resolve(state);
      const pending = loading.get(guildId) ?? read(guildId);
      loading.set(guildId, pending);
      return pending;
    },
    async update(guildId, change) {
      const saved = await documents.of(guildId).update((draft) => {
        Object.assign(draft, change(asState(draft)));
      });
      const state = asState(saved);
      known.set(guildId, state);
      return state;
    },
  };
}

const ownerStateSchema = z.object({
  accessRules: z.array(accessRuleSchema).default([]),
  plugins: z.record(z.string(), z.boolean()).default({}),
});

/** The collection with the bot owner's choices. */
export const ownerStateDocuments = { scope: 'global', version: 1, schema: ownerStateSchema, shared: true } as const;

const NO_CHOICES: OwnerChoices = Object.freeze({ accessRules: Object.freeze([]), plugins: Object.freeze({}) });

const CHOICES = 'choices';

/** The bot owner's choices in memory, written before they are visible. They are updated when another process changes them. */
export function createOwnerState(
  documents: Collection<z.output<typeof ownerStateSchema>, 'global'>,
  onSwitched: Switched = () => undefined,
): OwnerState {
  const document = documents.of(CHOICES);
  let known = NO_CHOICES;
  const follow = async () => {
    const before = known;
    known = await document.get();
    const plugins = switchedBetween(before.plugins, known.plugins);
    if (plugins.length > 0) onSwitched(plugins, null);
  };
  documents.watch((_key, { isRemote }) => {
    // The database is unreachable: missed changes are reported when it is back.
    if (isRemote) follow().catch(() => undefined);
  });
  return {
    async open() {
      known = await document.get();
    },
    peek: () => known,
    async update(change) {
      known = await document.update((draft) => {
        Object.assign(draft, change(draft));
      });
      return known;
    },
  };
}

/**
 * Whether a plugin is on in a guild: the choice of its admins, otherwise the default of the bot's owner, otherwise that of the manifest. A required plugin is
 * always on.
 */
export function isEnabledIn(
  states: Pick<GuildStates, 'peek'>,
  ownerState: Pick<OwnerState, 'peek'>,
  guildId: string | null,
  { id, required, enabledByDefault = true }: Pick<Manifest, 'id' | 'required' | 'enabledByDefault'>,
): boolean {
  // Ignores a stored choice from before the plugin became required: it could not be switched on again.
  if (required === true) return true;
  const chosen = guildId === null ? undefined : states.peek(guildId)?.plugins[id];
  return chosen ?? ownerState.peek().plugins[id] ?? enabledByDefault;
}

export function createEnabledIn(states: GuildStates, ownerState: OwnerState): EnabledIn {
  return (guildId, { manifest }) => isEnabledIn(states, ownerState, guildId, manifest);
}

export const LONGEST_PREFIX = 10;
export const MOST_PREFIXES = 10;

/**
 * Prefixes by guild, from the guild states.
 * @param own the default prefixes that no other bot of the installation shares
 */
export function createPrefixes(
  states: GuildStates,
  defaults: readonly string[],
  own: readonly string[] = [],
): Prefixes {
  const get = (guildId: string | null) => (guildId === null ? defaults : (states.peek(guildId)?.prefixes ?? defaults));
  const save = async (guildId: string, prefixes: readonly string[] | undefined) => {
    await states.update(guildId, (draft) => ({ ...draft, prefixes }));
    return get(guildId);
  };
  return {
    get,
    namesBot: (prefix) => prefix.startsWith('<@') || own.includes(prefix),
    async add(guildId, prefix) {
      const current = get(guildId);
      if (prefix.trim() === '' || prefix.length > LONGEST_PREFIX || /\s/.test(prefix)) {
        throw new UserError(t('A prefix is 1 to {most} characters without spaces.', { most: LONGEST_PREFIX }));
      }
      if (prefix.startsWith('/') || prefix.startsWith('<@')) {
        throw new UserError(t('A prefix cannot start with / or be a mention: Discord uses those itself.'));
      }
      if (current.includes(prefix)) throw new UserError(t('{prefix} is a prefix here already.', { prefix }));
      if (current.length >= MOST_PREFIXES)
        throw new UserError(t('There can be at most {most} prefixes.', { most: MOST_PREFIXES }));
      return save(guildId, [...current, prefix]);
    },
    async remove(guildId, prefix) {
      const current = get(guildId);
      if (!current.includes(prefix)) throw new UserError(t('{prefix} is not a prefix here.', { prefix }));
      return save(
        guildId,
        current.filter((other) => other !== prefix),
      );
    },
    reset: (guildId) => save(guildId, undefined),
  };
}
