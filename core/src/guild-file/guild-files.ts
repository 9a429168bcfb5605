import { isDeepStrictEqual } from 'node:util';
import {
  type AccessRule,
  type Actor,
  type AuditLog,
  type Collection,
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
  type GuildContent,
  readContent,
  slotOf,
  type Wrong,
  withSettings,
  writeContent,
} from './content.js';
import { type GuildDirectory, nameIn } from './directory.js';

/** What is kept of a guild's files. */
export const guildFileSchema = z.object({
  /** Being applied: written before the first change, so that a start after a crash completes it. */
  pending: z.object({ next: contentSchema, before: contentSchema }).optional(),
  /** How it was before the file that was applied last. */
  previous: contentSchema.optional(),
});

export interface GuildFileParts {
  readonly documents: Collection<z.output<typeof guildFileSchema>, 'guild'>;
  readonly states: GuildStates;
  readonly opened: () => readonly OpenedPlugin[];
  readonly manifests: () => readonly Manifest[];
  /** Whether a plugin is on where no admin has chosen. */
  readonly onByDefault: (manifest: Manifest) => boolean;
  /** What the guild's roles and channels are called; `undefined` while that is not known. */
  readonly directory: (guildId: string) => Promise<GuildDirectory | undefined>;
  /** Why a plugin refuses a value of its guild settings that its schema admits. */
  readonly refusalOf: (plugin: string, key: string, value: unknown, actor: Actor) => Promise<string | undefined>;
  readonly audit: AuditLog;
  /** After plugins have been switched on or off. */
  readonly switched: (guildId: string, plugins: readonly string[]) => void;
  readonly log: Logger;
}

export interface GuildFileService extends GuildFiles {
  /** At start: completes what a run that was cut off was applying. */
  recover(): Promise<void>;
  /** The rules for a member in what is kept of the files: what admits them goes, as it does from the rules that hold. */
  readonly personalData: PersonalData;
}

/** Reads, writes and applies files of a guild's choices, over the guild states and the settings of the plugins. */
export function createGuildFiles(parts: GuildFileParts): GuildFileService {
  const { documents, states, opened, manifests, directory, refusalOf, audit, switched, log } = parts;
  const mutex = createKeyedMutex();

  const contextOf = async (guildId: string, isTemplate = false): Promise<FileContext> => ({
    guildId,
    isTemplate,
    directory: await directory(guildId),
    opened: opened(),
    switchable: new Map(manifests().map(({ id, required = false }) => [id, { required }])),
  });

  /** What holds now, in the sections of `like`. */
  const present = async (
    context: FileContext,
    like: GuildContent,
    channelIds: ReadonlySet<string>,
  ): Promise<GuildContent> => {
    const { guildId, switchable } = context;
    const state = await states.load(guildId);
    const settings = await Promise.all(
      Object.keys(like.settings ?? {}).map(
        async (id) => [id, (await storedOf(context, id)?.get('guild', guildId)) ?? {}] as const,
      ),
    );
    const channels = await Promise.all(
      Object.keys(like.channels ?? {}).map(async (id) => {
        const stored = storedOf(context, id);
        const keys = (await stored?.keys('channel'))?.filter((key) => channelIds.has(key)) ?? [];
        const ofChannels = await Promise.all(
          keys.map(async (key) => [key, (await stored?.get('channel', key)) ?? {}] as const),
        );
        return [id, Object.fromEntries(ofChannels.filter(([, values]) => Object.keys(values).length > 0))] as const;
      }),
    );
    return {
      ...ofState(state, like, switchable),
      ...(like.settings === undefined ? {} : { settings: Object.fromEntries(settings) }),
      ...(like.channels === undefined ? {} : { channels: Object.fromEntries(channels) }),
    };
  };

  /**
   * Makes the sections of `next` hold. Repeating it changes nothing. What is kept of the guild as a whole comes last, in one step.
   * @throws UserError when an admin has changed that meanwhile
   */
  const write = async (context: FileContext, next: GuildContent, channelIds: ReadonlySet<string>): Promise<void> => {
    const { guildId, switchable } = context;
    const before = await present(context, next, channelIds);
    const whole = ofState(await states.load(guildId), next, switchable);
    for (const { plugin, scope, key, changes } of changesOf(guildId, before, next)) {
      const stored = storedOf(context, plugin);
      if (stored !== undefined) await stored.set(scope, key, changes);
      else log.warn('settings of a file were left out: their plugin does not run', { guildId, plugin });
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

  /** After a write that failed. @throws UserError when this one fails too: then it is completed instead, once something can be saved again */
  const takeBack = async (
    context: FileContext,
    { before, previous }: { readonly before: GuildContent; readonly previous: GuildContent | undefined },
    channelIds: ReadonlySet<string>,
  ): Promise<void> => {
    try {
      // The rest was not written: it comes last.
      const { settings, channels } = before;
      await write(context, { settings, channels }, channelIds);
      await documents.of(context.guildId).set({ previous });
    } catch (cause) {
      throw new UserError(
        t(
          'This could be saved in part only. The rest is saved as soon as that works again, at the latest with my next start.',
        ),
        { cause },
      );
    }
  };

  const complete = async (guildId: string): Promise<void> => {
    const { pending } = await documents.of(guildId).get();
    if (pending === undefined) return;
    await write(await contextOf(guildId), pending.next, channelsIn(pending.next, pending.before));
    await documents.of(guildId).set({ previous: pending.before });
    log.info('a file that was being applied when the bot stopped is applied now', { guildId });
  };

  const planFor = async (context: FileContext, next: GuildContent, act: string): Promise<GuildFilePlan> => {
    const { guildId } = context;
    const channelIds = new Set([...(context.directory?.channels.map(({ id }) => id) ?? []), ...channelsIn(next)]);
    const before = await present(context, next, channelIds);
    const differences = differencesOf(before, next, context.directory);
    const apply = async (actor: Actor) => {
      await complete(guildId);
      const isAsPlanned = async () => isDeepStrictEqual(await present(context, next, channelIds), before);
      if (!(await isAsPlanned())) throw changedMeanwhile();
      const document = documents.of(guildId);
      const { previous } = await document.get();
      await document.set({ pending: { next, before }, previous });
      // That took its time, too.
      if (!(await isAsPlanned())) {
        await takeBack(context, { before: {}, previous }, channelIds);
        throw changedMeanwhile();
      }
      try {
        await write(context, next, channelIds);
      } catch (error) {
        await takeBack(context, { before, previous }, channelIds);
        throw error;
      }
      // It holds by now; what stays pending is completed, which changes nothing, the next time.
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

  /** What the shape of a file does not tell: limits, the schemas of whole documents, and what plugins refuse. */
  const check = async (context: FileContext, content: GuildContent, actor: Actor, wrong: Wrong): Promise<void> => {
    checkLimits(content, wrong);
    const before = await present(context, content, channelIdsOf(context));
    for (const change of changesOf(context.guildId, before, content)) {
      const path = change.scope === 'guild' ? ['settings', change.plugin] : ['channels', change.plugin, change.key];
      for (const { key, detail } of await problemsOf(context, change, actor))
        wrong(key === undefined ? path : [...path, key], detail);
    }
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
      return writeContent(await present(context, everything(context), channelIdsOf(context)), context);
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

/** What is kept of a guild as a whole, in the sections of `like`. */
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

const channelIdsOf = ({ directory }: FileContext): ReadonlySet<string> =>
  new Set(directory?.channels.map(({ id }) => id));

const channelsIn = (...contents: readonly GuildContent[]): ReadonlySet<string> =>
  new Set(contents.flatMap(({ channels = {} }) => Object.values(channels).flatMap((one) => Object.keys(one))));

/** All sections, empty. The channels of a guild are not known without its directory. */
function everything({ opened, directory }: FileContext): GuildContent {
  const empty = (scope: 'guild' | 'channel') =>
    Object.fromEntries(
      withSettings(opened, scope)
        .map(({ plugin }) => plugin.manifest.id)
        .sort()
        .map((id) => [id, {}]),
    );
  return {
    plugins: {},
    prefixes: null,
    roles: { mod: [], admin: [] },
    rules: [],
    tools: {},
    settings: empty('guild'),
    ...(directory === undefined ? {} : { channels: empty('channel') }),
  };
}

/** Far more than there are tools; also of plugins that are not loaded now. */
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
  readonly scope: 'guild' | 'channel';
  readonly key: string;
  /** `undefined`: back to the default. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The changes of each settings document. */
function changesOf(guildId: string, before: GuildContent, next: GuildContent): readonly DocumentChange[] {
  const change = (
    plugin: string,
    scope: 'guild' | 'channel',
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
    ...Object.entries(next.channels ?? {}).flatMap(([plugin, to]) => {
      const from = before.channels?.[plugin] ?? {};
      return union(from, to).flatMap((key) => change(plugin, 'channel', key, from[key], to[key]));
    }),
  ];
}

const union = (a: object, b: object): readonly string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];

/** What has to be known before plugins are switched off. */
function notesOn(
  before: GuildContent,
  next: GuildContent,
  { manifests, onByDefault }: Pick<GuildFileParts, 'manifests' | 'onByDefault'>,
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

/** A value for people, with the names of what it names. */
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

/** Everything that differs, in the order of a file. */
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
  /** What is compared. */
  readonly value: string;
  readonly shown: string;
}

/** Every single choice, by a key of its own. */
function flatten(content: GuildContent, directory: GuildDirectory | undefined): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const leaf = (what: string, value: unknown, { key = what, text = shown(value, directory) } = {}) =>
    void leaves.set(key, { what, value: JSON.stringify(value), shown: text });
  const leavesOf = (path: string, values: Readonly<Record<string, unknown>>, what = path) => {
    for (const [key, value] of Object.entries(values)) leaf(`${what}.${key}`, value, { key: `${path}.${key}` });
  };
  const name = (id: string) => shown(id, directory);
  const { plugins, prefixes, roles, rules = [], tools, settings, channels } = content;
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
  for (const [id, ofChannels] of entriesOf(channels))
    for (const [channel, values] of entriesOf(ofChannels))
      leavesOf(`channels.${id}.${channel}`, values, `channels.${id}.${name(channel)}`);
  return leaves;
}

const entriesOf = <T>(record: Readonly<Record<string, T>> = {}) => Object.entries(record);
