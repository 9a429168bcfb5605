import { isDeepStrictEqual } from 'node:util';
import {
  type AccessRule,
  type Actor,
  type AuditLog,
  type Clock,
  type Collection,
  type Configuration,
  createKeyedMutex,
  type GuildFileDifference,
  type GuildFilePlan,
  type GuildFiles,
  type Logger,
  lineOfDifference,
  type Manifest,
  type PersonalData,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { admits, MOST_ROLES, MOST_RULES, names } from '../access/rules.js';
import type { GuildState, GuildStates } from '../contracts.js';
import type { OpenedPlugin } from '../storage/storage.js';
import {
  contentSchema,
  type FileContext,
  type FileScope,
  type GuildContent,
  readContent,
  SECTION_SCOPES,
  slotOf,
  type Wrong,
  withPart,
  withSettings,
  writeContent,
} from './content.js';
import { type GuildDirectory, nameIn } from './directory.js';

/** The stored state of a guild's files. */
export const guildFileSchema = z.object({
  /** The file that is being applied: written before the first change, so that a start after a crash completes it. */
  pending: z.object({ next: contentSchema, before: contentSchema }).optional(),
  /** The state before the last applied file. */
  previous: contentSchema.optional(),
});

interface GuildFileDependencies {
  readonly documents: Collection<z.output<typeof guildFileSchema>, 'guild'>;
  readonly states: GuildStates;
  readonly opened: () => readonly OpenedPlugin[];
  readonly manifests: () => readonly Manifest[];
  /** Whether a plugin is on by default. */
  readonly onByDefault: (manifest: Manifest) => boolean;
  /** The names of the guild's roles and channels; `undefined` while they are not known. */
  readonly directory: (guildId: string) => Promise<GuildDirectory | undefined>;
  /** The reason why a plugin's own check refuses a value of its guild settings; `undefined` when it accepts the value. */
  readonly refusalOf: (plugin: string, key: string, value: unknown, actor: Actor) => Promise<string | undefined>;
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly audit: AuditLog;
  /** Called after plugins have been switched on or off. */
  readonly switched: (guildId: string, plugins: readonly string[]) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface GuildFileService extends GuildFiles {
  /** At start: completes a file whose application was interrupted. */
  recover(): Promise<void>;
  /** The rules about a member in the stored files: rules that allow something are deleted, as in the active rules. */
  readonly personalData: PersonalData;
}

/** Reads, writes and applies files with a guild's configuration, which is stored in the guild states and the settings of the plugins. */
export function createGuildFiles(parts: GuildFileDependencies): GuildFileService {
  const { documents, states, opened, manifests, directory, refusalOf, configuration, audit, switched, clock, log } =
    parts;
  const mutex = createKeyedMutex();

  const contextOf = async (guildId: string, isTemplate = false): Promise<FileContext> => ({
    guildId,
    isTemplate,
    directory: await directory(guildId),
    opened: opened(),
    switchable: new Map(manifests().map(({ id, required = false }) => [id, { required }])),
  });

  /** A plugin's section of the file; `undefined` for a plugin without one, or one that does not run. */
  const partOf = (context: FileContext, id: string) => {
    const one = context.opened.find(({ plugin }) => plugin.manifest.id === id);
    const part = one?.plugin.guildFile;
    if (one === undefined || part === undefined) return undefined;
    const { settings, collections } = one.storage;
    const own = { guildId: context.guildId, settings, collections, configuration, clock, log };
    return {
      read: async () => part.schema.parse(await part.read(own)),
      problemsOf: (value: object) => part.problemsOf(value, own),
      write: (value: object) => part.write(value, own),
    };
  };

  /** Data that plugins hold by channel or role. @param places ids of the guild's channels and roles */
  const keptBy = async (
    context: FileContext,
    scope: 'channel' | 'role',
    plugins: object,
    places: ReadonlySet<string>,
  ) => {
    const kept = await Promise.all(
      Object.keys(plugins).map(async (id) => {
        const stored = storedOf(context, id);
        const keys = (await stored?.keys(scope))?.filter((key) => places.has(key)) ?? [];
        const ofEach = await Promise.all(
          keys.map(async (key) => [key, (await stored?.get(scope, key)) ?? {}] as const),
        );
        return [id, Object.fromEntries(ofEach.filter(([, values]) => Object.keys(values).length > 0))] as const;
      }),
    );
    return Object.fromEntries(kept);
  };

  /** The present values of the sections in `like`. @param places ids of the guild's channels and roles */
  const present = async (
    context: FileContext,
    like: GuildContent,
    places: ReadonlySet<string>,
  ): Promise<GuildContent> => {
    const { guildId, switchable } = context;
    const state = await states.load(guildId);
    const settings = await Promise.all(
      Object.keys(like.settings ?? {}).map(
        async (id) => [id, (await storedOf(context, id)?.get('guild', guildId)) ?? {}] as const,
      ),
    );
    const parts = await Promise.all(
      Object.keys(like.parts ?? {}).map(async (id) => [id, (await partOf(context, id)?.read()) ?? {}] as const),
    );
    return {
      ...ofState(state, like, switchable),
      ...(like.settings === undefined ? {} : { settings: Object.fromEntries(settings) }),
      ...(like.channels === undefined ? {} : { channels: await keptBy(context, 'channel', like.channels, places) }),
      ...(like.roleSettings === undefined
        ? {}
        : { roleSettings: await keptBy(context, 'role', like.roleSettings, places) }),
      ...(like.parts === undefined ? {} : { parts: Object.fromEntries(parts) }),
    };
  };

  /**
   * Applies the sections of `next`. Repeating it changes nothing. The data of the guild as a whole are written last, in one step.
   * @throws UserError when an admin has changed them meanwhile
   */
  const write = async (context: FileContext, next: GuildContent, places: ReadonlySet<string>): Promise<void> => {
    const { guildId, switchable } = context;
    const before = await present(context, next, places);
    const whole = ofState(await states.load(guildId), next, switchable);
    for (const { plugin, scope, key, changes } of changesOf(guildId, before, next)) {
      const stored = storedOf(context, plugin);
      if (stored !== undefined) await stored.set(scope, key, changes);
      else log.warn('settings of a file were left out: their plugin does not run', { guildId, plugin });
    }
    for (const [id, value] of entriesOf(next.parts)) {
      if (isDeepStrictEqual(before.parts?.[id], value)) continue;
      const part = partOf(context, id);
      if (part !== undefined) await part.write(value);
      else log.warn('a part of a file was left out: its plugin does not run', { guildId, plugin: id });
    }
    const { plugins, prefixes, roles, rules, tools } = next;
    await states.update(guildId, (draft) => {
      if (!isDeepStrictEqual(ofState(draft, next, switchable), whole)) throw changedMeanwhile();
      const unknown = Object.entries(draft.plugins).filter(([id]) => switchable.get(id)?.required !== false);
      return {
        ...draft,
        ...(plugins === undefined ? {} : { plugins: { ...Object.fromEntries(unknown), ...plugins } }),
        ...(prefixes === undefined ? {} : { prefixes: prefixes ?? undefined }),
        ...(roles === undefined ? {} : { modRoles: roles.mod, adminRoles: roles.admin }),
        ...(rules === undefined ? {} : { accessRules: rules }),
        ...(tools === undefined ? {} : { toolPolicies: tools }),
      };
    });
    const now = new Set([...Object.keys(before.plugins ?? {}), ...Object.keys(plugins ?? {})]);
    const changed = [...now].filter((id) => before.plugins?.[id] !== plugins?.[id]);
    if (changed.length > 0) switched(guildId, changed);
  };

  /** Reverts after a failed write. @throws UserError when that fails too: the file is then completed later, once writing is possible again */
  const revert = async (
    context: FileContext,
    { before, previous }: { readonly before: GuildContent; readonly previous: GuildContent | undefined },
    places: ReadonlySet<string>,
  ): Promise<void> => {
    try {
      // The rest was not written, since it comes last.
      const { settings, channels, roleSettings, parts: ofPlugins } = before;
      await write(context, { settings, channels, roleSettings, parts: ofPlugins }, places);
      await documents.of(context.guildId).set({ previous });
    } catch (cause) {
      throw new UserError(
        t(
          'Only a part of this could be saved. The rest is saved as soon as possible, at the latest with my next start.',
        ),
        { cause },
      );
    }
  };

  const complete = async (guildId: string): Promise<void> => {
    const { pending } = await documents.of(guildId).get();
    if (pending === undefined) return;
    await write(await contextOf(guildId), pending.next, placesIn(pending.next, pending.before));
    await documents.of(guildId).set({ previous: pending.before });
    log.info('a file that was being applied when the bot stopped is applied now', { guildId });
  };

  const planFor = async (context: FileContext, next: GuildContent, act: string): Promise<GuildFilePlan> => {
    const { guildId } = context;
    const places = new Set([...placesOf(context), ...placesIn(next)]);
    const before = await present(context, next, places);
    const differences = differencesOf(before, next, context.directory);
    const apply = async (actor: Actor) => {
      await complete(guildId);
      const isAsPlanned = async () => isDeepStrictEqual(await present(context, next, places), before);
      if (!(await isAsPlanned())) throw changedMeanwhile();
      const document = documents.of(guildId);
      const { previous } = await document.get();
      await document.set({ pending: { next, before }, previous });
      // Other changes may have been made while this ran.
      if (!(await isAsPlanned())) {
        await revert(context, { before: {}, previous }, places);
        throw changedMeanwhile();
      }
      try {
        await write(context, next, places);
      } catch (error) {
        await revert(context, { before, previous }, places);
        throw error;
      }
      // The file has been applied. When this write fails, the pending entry is applied again later, which changes nothing.
      await document
        .set({ previous: before })
        .catch((error: unknown) => log.warn('a file was applied, but not recorded as such', { guildId, error }));
      const text = differences.map(lineOfDifference).join('; ');
      audit.record({ actor, act: `${act}: ${text === '' ? 'nothing' : text}`, outcome: 'done' });
    };
    return {
      differences,
      notes: notesOn(before, next, parts),
      apply: (actor) => mutex.run(guildId, () => apply(actor)),
    };
  };

  /** Checks that the shape of a file does not include: limits, the schemas of whole documents, and plugins' own checks. */
  const check = async (context: FileContext, content: GuildContent, actor: Actor, wrong: Wrong): Promise<void> => {
    checkLimits(content, wrong);
    const before = await present(context, content, placesOf(context));
    for (const change of changesOf(context.guildId, before, content)) {
      const { plugin, scope, key: of } = change;
      const section = scope === 'channel' ? 'channels' : 'roleSettings';
      const path = scope === 'guild' ? ['settings', plugin] : [section, plugin, of];
      for (const { key, detail } of await problemsOf(context, change, actor))
        wrong(key === undefined ? path : [...path, key], detail);
    }
    await checkParts(context, content, wrong);
  };

  const checkParts = async (context: FileContext, { parts }: GuildContent, wrong: Wrong): Promise<void> => {
    for (const [id, value] of entriesOf(parts))
      for (const { at, problem } of (await partOf(context, id)?.problemsOf(value)) ?? [])
        wrong(['parts', id, ...at], problem);
  };

  const problemsOf = async (context: FileContext, change: DocumentChange, actor: Actor) => {
    const { plugin, scope, key, changes } = change;
    const problem = await storedOf(context, plugin)?.problemOf(scope, key, changes);
    if (problem !== undefined) return [problem];
    if (scope !== 'guild') return [];
    const refusals = await Promise.all(
      Object.entries(changes).map(async ([name, value]) => {
        const detail = value === undefined ? undefined : await refusalOf(plugin, name, value, actor);
        return detail === undefined ? [] : [{ key: name, detail }];
      }),
    );
    return refusals.flat();
  };

  return {
    async export(guildId) {
      const context = await contextOf(guildId);
      return writeContent(await present(context, everything(context), placesOf(context)), context);
    },
    plan: (guildId, text, actor, { template = false } = {}) =>
      mutex.run(guildId, async () => {
        await complete(guildId);
        const context = await contextOf(guildId, template);
        const next = await readContent(text, context, (content, wrong) => check(context, content, actor, wrong));
        return planFor(context, next, 'server apply');
      }),
    planUndo: (guildId) =>
      mutex.run(guildId, async () => {
        await complete(guildId);
        const { previous } = await documents.of(guildId).get();
        return previous === undefined ? undefined : planFor(await contextOf(guildId), previous, 'server undo');
      }),
    personalData: {
      async export(userId) {
        const found: Record<string, readonly AccessRule[]> = {};
        for await (const [guildId, { pending, previous }] of documents.entries()) {
          const all = [pending?.next, pending?.before, previous].flatMap((content) => content?.rules ?? []);
          const theirs = all.filter(names(userId));
          if (theirs.length > 0) found[guildId] = theirs;
        }
        return found;
      },
      async forget(userId) {
        const isAdmission = admits(userId);
        const without = (content: GuildContent): GuildContent =>
          content.rules === undefined
            ? content
            : { ...content, rules: content.rules.filter((one) => !isAdmission(one)) };
        for await (const [guildId] of documents.entries())
          await mutex.run(guildId, () =>
            documents.of(guildId).update((draft) => {
              const { pending, previous } = draft;
              if (pending !== undefined)
                draft.pending = { next: without(pending.next), before: without(pending.before) };
              if (previous !== undefined) draft.previous = without(previous);
            }),
          );
      },
    },
    async recover() {
      for await (const [guildId] of documents.entries()) await mutex.run(guildId, () => complete(guildId));
    },
  };
}

const changedMeanwhile = () =>
  new UserError(t('Something has been changed here since then. Nothing has been applied: please plan it again.'));

/** The stored data of a guild as a whole, for the sections of `like`. */
function ofState(
  { plugins, prefixes, modRoles, adminRoles, accessRules, toolPolicies }: GuildState,
  like: GuildContent,
  switchable: FileContext['switchable'],
): GuildContent {
  const chosen = Object.entries(plugins).filter(([id]) => switchable.get(id)?.required === false);
  return {
    ...(like.plugins === undefined ? {} : { plugins: Object.fromEntries(chosen) }),
    ...(like.prefixes === undefined ? {} : { prefixes: prefixes === undefined ? null : [...prefixes] }),
    ...(like.roles === undefined ? {} : { roles: { mod: [...modRoles], admin: [...adminRoles] } }),
    ...(like.rules === undefined ? {} : { rules: [...accessRules] }),
    ...(like.tools === undefined ? {} : { tools: { ...toolPolicies } }),
  };
}

const storedOf = ({ opened }: FileContext, id: string) =>
  opened.find(({ plugin }) => plugin.manifest.id === id)?.stored;

/** Ids of the guild's channels and roles. */
const placesOf = ({ directory }: FileContext): ReadonlySet<string> =>
  new Set([...(directory?.channels ?? []), ...(directory?.roles ?? [])].map(({ id }) => id));

const placesIn = (...contents: readonly GuildContent[]): ReadonlySet<string> =>
  new Set(
    contents.flatMap(({ channels = {}, roleSettings = {} }) =>
      [...Object.values(channels), ...Object.values(roleSettings)].flatMap((one) => Object.keys(one)),
    ),
  );

/** All sections, empty. A guild's channels are unknown without its directory. */
function everything({ opened, directory }: FileContext): GuildContent {
  const named = (plugins: readonly OpenedPlugin[]) =>
    Object.fromEntries(
      plugins
        .map(({ plugin }) => plugin.manifest.id)
        .sort()
        .map((id) => [id, {}]),
    );
  const empty = (scope: FileScope) => named(withSettings(opened, scope));
  return {
    plugins: {},
    prefixes: null,
    roles: { mod: [], admin: [] },
    rules: [],
    tools: {},
    settings: empty('guild'),
    ...(directory === undefined ? {} : { channels: empty('channel'), roleSettings: empty('role') }),
    parts: named(withPart(opened)),
  };
}

/** Far more than the number of tools. Policies for tools of plugins that are not loaded are allowed, too. */
const MOST_TOOLS = 1_000;

function checkLimits({ rules = [], roles = { mod: [], admin: [] }, tools = {} }: GuildContent, wrong: Wrong): void {
  if (Object.keys(tools).length > MOST_TOOLS)
    wrong(['tools'], t('a server has at most {count} tool policies', { count: MOST_TOOLS }));
  if (rules.length > MOST_RULES) wrong(['rules'], t('a server has at most {count} rules', { count: MOST_RULES }));
  for (const tier of ['mod', 'admin'] as const)
    if (roles[tier].length > MOST_ROLES)
      wrong(['roles', tier], t('a server has at most {count} roles of a tier', { count: MOST_ROLES }));
}

interface DocumentChange {
  readonly plugin: string;
  readonly scope: FileScope;
  readonly key: string;
  /** `undefined`: reset to the default. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The changes of each settings document. */
function changesOf(guildId: string, before: GuildContent, next: GuildContent): readonly DocumentChange[] {
  const change = (
    plugin: string,
    scope: FileScope,
    key: string,
    from: Readonly<Record<string, unknown>> = {},
    to: Readonly<Record<string, unknown>> = {},
  ): readonly DocumentChange[] => {
    const names = union(from, to).filter((name) => !isDeepStrictEqual(from[name], to[name]));
    if (names.length === 0) return [];
    return [{ plugin, scope, key, changes: Object.fromEntries(names.map((name) => [name, to[name]])) }];
  };
  return [
    ...Object.entries(next.settings ?? {}).flatMap(([plugin, to]) =>
      change(plugin, 'guild', guildId, before.settings?.[plugin], to),
    ),
    ...(['channels', 'roleSettings'] as const).flatMap((section) =>
      entriesOf(next[section]).flatMap(([plugin, to]) => {
        const from = before[section]?.[plugin] ?? {};
        return union(from, to).flatMap((key) => change(plugin, SECTION_SCOPES[section], key, from[key], to[key]));
      }),
    ),
  ];
}

const union = (a: object, b: object): readonly string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];

/** What an admin should read before plugins are switched off: the note of each of these plugins. */
function notesOn(
  before: GuildContent,
  next: GuildContent,
  { manifests, onByDefault }: Pick<GuildFileDependencies, 'manifests' | 'onByDefault'>,
): readonly string[] {
  if (next.plugins === undefined) return [];
  const isOn = (manifest: Manifest, { plugins = {} }: GuildContent) => plugins[manifest.id] ?? onByDefault(manifest);
  return manifests().flatMap((manifest) =>
    manifest.disabling !== undefined && isOn(manifest, before) && !isOn(manifest, next)
      ? [`${manifest.id}: ${manifest.disabling}`]
      : [],
  );
}

const LONGEST_VALUE = 150;

/** A value for people, with names in place of ids. */
function shown(value: unknown, directory: GuildDirectory | undefined): string {
  const named = (text: string) => {
    const name = nameIn(directory, text);
    return name === undefined ? text : `${text} (${name})`;
  };
  const text =
    typeof value === 'string'
      ? named(value)
      : JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? named(part) : part));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** All differences, in the order of a file. */
function differencesOf(
  before: GuildContent,
  next: GuildContent,
  directory: GuildDirectory | undefined,
): readonly GuildFileDifference[] {
  const from = flatten(before, directory);
  const to = flatten(next, directory);
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((key) => {
    const was = from.get(key);
    const is = to.get(key);
    if (was?.value === is?.value) return [];
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    return [{ kind, what: (is ?? was)?.what ?? '', before: was?.shown ?? '', after: is?.shown ?? '' } as const];
  });
}

interface Leaf {
  readonly what: string;
  /** The data that are compared. */
  readonly value: string;
  readonly shown: string;
}

/** Every single choice, by a key that identifies it. */
function flatten(content: GuildContent, directory: GuildDirectory | undefined): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const leaf = (what: string, value: unknown, { key = what, text = shown(value, directory) } = {}) =>
    void leaves.set(key, { what, value: JSON.stringify(value), shown: text });
  const leavesOf = (path: string, values: Readonly<Record<string, unknown>>, what = path) => {
    for (const [key, value] of Object.entries(values)) leaf(`${what}.${key}`, value, { key: `${path}.${key}` });
  };
  const name = (id: string) => shown(id, directory);
  const { plugins, prefixes, roles, rules = [], tools, settings, channels, roleSettings, parts } = content;
  for (const [id, on] of entriesOf(plugins)) leaf(`plugins.${id}`, on ? 'on' : 'off');
  if (prefixes !== undefined && prefixes !== null) leaf('prefixes', prefixes, { text: prefixes.join(' ') });
  for (const [tier, ids] of entriesOf(roles))
    for (const id of ids) leaf(`roles.${tier}`, id, { key: `roles.${tier}.${id}` });
  for (const rule of rules) {
    const { target, subject } = rule;
    const whom = subject.id === undefined ? subject.kind : `${subject.kind} ${name(subject.id)}`;
    const what = target.kind === 'everything' ? target.kind : `${target.kind} ${target.name}`;
    leaf(`rules.${what}, ${whom}`, rule.effect, { key: `rules.${slotOf(rule)}` });
  }
  for (const [tool, policy] of entriesOf(tools)) leaf(`tools.${tool}`, policy);
  for (const [id, values] of entriesOf(settings)) leavesOf(`settings.${id}`, values);
  for (const [section, id, place, values] of [...keptIn('channels', channels), ...keptIn('roleSettings', roleSettings)])
    leavesOf(`${section}.${id}.${place}`, values, `${section}.${id}.${name(place)}`);
  for (const [path, value] of leavesIn(parts ?? {}))
    leaf(['parts', ...path.map(name)].join('.'), value, { key: ['parts', ...path].join('.') });
  return leaves;
}

/** The settings of a section by plugin and place. */
const keptIn = (section: string, kept: GuildContent['channels']) =>
  entriesOf(kept).flatMap(([id, ofEach]) =>
    entriesOf(ofEach).map(([place, values]) => [section, id, place, values] as const),
  );

/** Every leaf of an object, with its path. */
function leavesIn(value: unknown): readonly (readonly [path: readonly string[], value: unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[[], value]];
  return Object.entries(value).flatMap(([key, part]) =>
    leavesIn(part).map(([path, leaf]) => [[key, ...path], leaf] as const),
  );
}

const entriesOf = <T>(record: Readonly<Record<string, T>> = {}) => Object.entries(record);
