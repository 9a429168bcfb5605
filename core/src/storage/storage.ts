import {
  type Actor,
  CinnabarError,
  createJournal,
  type HasId,
  type Logger,
  type MemberKey,
  type Plugin,
  SETTING_SCOPES,
  type SettingMention,
  type SettingScope,
  type SettingsChange,
  type Tier,
  type z,
} from '@cinnabar/sdk';
import type { PluginStorage, StorageService } from '../contracts.js';
import { createCatalog } from './catalog/catalog.js';
import { fieldsOf, hideSecrets, type SecretKeys, secretKeysOf } from './catalog/fields.js';
import { openCollection } from './documents/collections.js';
import {
  createDocumentStore,
  type DocumentStore,
  type GuildOf,
  invalid,
  type StorageProblem,
} from './documents/document-store.js';
import {
  type AnySettings,
  belowCeilings,
  boundsOf,
  type CeilingService,
  type Ceilings,
  type CheckChanges,
  checkCeilings,
  NO_CEILINGS,
  openSettings,
  storedValues,
  unknownSetting,
} from './documents/settings.js';
import { collectionPath, type Driver, journalPath, keyFor, settingsPath } from './driver.js';
import { journalsRoot, openJournals } from './files.js';
import { createStoredPersonalData, type PersonalCollection, peopleIn, personalCollection } from './personal-data.js';
import { createSubjectIndex, type SubjectIndex } from './subjects.js';

/** The first segment of the paths of the host's own documents; no plugin's id has this form. */
const HOST = '@host';

export interface StorageOptions {
  readonly driver: Driver;
  /** Opens journals in a folder that the operator has configured; without it there are none. */
  readonly journalsIn?: (folder: string) => Driver;
  readonly log: Logger;
  /** Values for plugins' global settings that apply until an owner sets others, by plugin. */
  readonly presets?: Readonly<Record<string, Presets>>;
  /** The place of a preset, for people. */
  readonly presetPlace?: (plugin: string, key: string) => string;
  /** The maximum that admins may set. */
  readonly ceilings?: CeilingService;
  /** Decides who may change settings; without it members may change their own settings only. */
  readonly tierOf?: (actor: Actor) => Promise<Tier>;
  /** Whether a role is one of the server's; without it none is, and settings by role cannot be changed there. */
  readonly hasRole?: (guildId: string, roleId: string) => boolean;
  /** Ids of a server's named channels, roles or members, the name in lower case; without it there are none. */
  readonly called?: (guildId: string, of: SettingMention, name: string) => readonly string[];
  /** Whether a channel or role is known to belong to another place than the server; without it none is. */
  readonly isElsewhere?: (guildId: string, kind: 'channel' | 'role', id: string) => Promise<boolean>;
  /** The server of a channel or role; without it none is known. */
  readonly guildOf?: GuildOf;
  /** Called with every document that had to be put aside, so that the owner can be notified. Must not throw. */
  readonly onProblem?: (problem: StorageProblem) => void;
  /** The index of people; a new one by default. Other code that writes to the driver and records people has to use the same one. */
  readonly subjects?: SubjectIndex;
}

/** Builds the storage of all plugins on one driver. The creator of the driver has to close it, after the last `flush`. */
export function createStorage(options: StorageOptions): StorageService {
  const {
    driver,
    log,
    presets = {},
    presetPlace = (plugin, key) => `${plugin}.${key}`,
    ceilings = NO_CEILINGS,
    tierOf = async () => 'everyone',
    hasRole = () => false,
    called = () => [],
    isElsewhere = async () => false,
    onProblem = () => undefined,
    guildOf,
    journalsIn = noFolder,
    subjects = createSubjectIndex(driver),
  } = options;
  const store = createDocumentStore({
    driver,
    log,
    onProblem,
    subjects,
    ...(guildOf === undefined ? {} : { guildOf }),
  });
  const opened = new Map<string, OpenedPlugin>();
  const secrets = new Map<string, SecretKeys>();
  const personal = createStoredPersonalData({
    store,
    subjects,
    withoutSecrets: (id, scope, data) => hideSecrets(secrets.get(id) ?? new Map(), scope, data),
    declared: () => [...opened.values()].flatMap((one) => one.personal),
  });

  return {
    open(plugin) {
      const { id } = plugin.manifest;
      const one = openPlugin(store, subjects, plugin, presets[id] ?? {}, (key) => presetPlace(id, key), ceilings);
      opened.set(id, one);
      secrets.set(id, secretKeysOf(plugin));
      return one.storage;
    },
    settingsOf(plugin) {
      const { id } = plugin.manifest;
      const one = opened.get(id);
      if (one?.plugin === plugin) return one.storage.settings;
      return openPlugin(store, subjects, plugin, presets[id] ?? {}, (key) => presetPlace(id, key), ceilings).storage
        .settings;
    },
    close(plugin) {
      const { id } = plugin.manifest;
      const one = opened.get(id);
      if (one?.plugin !== plugin) return;
      one.close();
      opened.delete(id);
    },
    collection: (name, definition, watched) =>
      openCollection(store, definition, collectionPath(HOST, definition.scope, name), watched),
    journal: (plugin, name, { schema, guildId, snapshot }) =>
      createJournal(
        driver.journal(journalPath(plugin, name, guildId)),
        schema,
        snapshot === undefined ? {} : { snapshot },
      ),
    journals(plugin, wanted = {}) {
      const root = journalsRoot(plugin, wanted);
      // With a database, journals are not written to files, which would remain on this machine when servers move to another process.
      if (wanted.folder === undefined || driver.shared !== undefined) return openJournals(driver, root);
      return openJournals(journalsIn(wanted.folder), []);
    },
    secretKeys: () => secrets,
    opened: () => [...opened.values()],
    catalog: createCatalog({ opened, tierOf, hasRole, called, isElsewhere }),
    ...personal,
    async eraseAll(plugin) {
      for (const path of await store.list([plugin], 'all')) await store.erase(path);
      await driver.eraseJournals(plugin);
    },
    onGap: store.onGap,
    async flush() {
      await store.idle();
      await subjects.idle();
    },
  };
}

function noFolder(folder: string): never {
  throw new TypeError(`nothing opens journals in ${folder}`);
}

type Presets = Readonly<Record<string, unknown>>;

/** A plugin's storage with the declarations of its present version. */
export interface OpenedPlugin {
  readonly plugin: Plugin;
  readonly storage: PluginStorage;
  /** The settings document of a scope of the plugin; `of` is required except for the global one. */
  readonly document: (scope: SettingScope, of?: HasId | MemberKey) => AnySettings;
  /** The owner's maximums for admins of a server. */
  readonly ceilings: (guildId: string | null) => Promise<Ceilings>;
  /** Its collections that declare to whom their documents belong. */
  readonly personal: readonly PersonalCollection[];
  /** Its stored settings, for code that handles whole sets of them. */
  readonly stored: StoredSettings;
  /** Stops reacting to changes by other processes. */
  close(): void;
}

/** The chosen values of a plugin's settings: without defaults, secrets, and keys that this version does not declare. */
export interface StoredSettings {
  get(scope: SettingScope, key: string): Promise<Readonly<Record<string, unknown>>>;
  /** Names of the chosen settings in one document, including secrets. */
  names(scope: SettingScope, of?: HasId | MemberKey): Promise<readonly string[]>;
  /** Keys of the scope's documents: ids of guilds, channels … */
  keys(scope: SettingScope): Promise<readonly string[]>;
  /** Why changes cannot be saved; `undefined` when they can. A value of `undefined` resets to the default. */
  problemOf(scope: SettingScope, key: string, changes: Readonly<Record<string, unknown>>): Promise<Problem | undefined>;
  set(scope: SettingScope, key: string, changes: Readonly<Record<string, unknown>>): Promise<void>;
}

interface Problem {
  /** The key of the setting, if the problem concerns one. */
  readonly key: string | undefined;
  /** A clause for people. */
  readonly detail: string;
}

/**
 * @throws CINNABAR_PLUGIN_INVALID when a setting has neither a default nor is optional, or a collection declares a field that it does not have
 * @throws CINNABAR_CONFIG_INVALID when a preset is not a setting, or is invalid for it
 */
function openPlugin(
  store: DocumentStore,
  subjects: SubjectIndex,
  plugin: Plugin,
  presets: Presets,
  presetPlace: (key: string) => string,
  ceilings: CeilingService,
): OpenedPlugin {
  const { id } = plugin.manifest;
  checkDefaults(plugin);
  checkPresets(plugin, presets, presetPlace);

  const ofGuild = fieldsOf(plugin).filter(({ scope }) => scope === 'guild');
  const bounds = boundsOf(ofGuild);
  const numbers = ofGuild.filter(({ isNumber }) => isNumber);
  ceilings.declare(
    id,
    numbers.map(({ key }) => key),
  );
  // Stops the listeners that the plugin has not removed when it ends.
  const stops = new Set<() => void>();
  const watched: DocumentStore = {
    ...store,
    watch(prefix, listener) {
      const stop = store.watch(prefix, listener);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
  };
  const listeners = new Set<(change: SettingsChange) => unknown>();
  let following: readonly (() => void)[] = [];
  /** Reports changes by other processes, except those of settings that another host handles. */
  const follow = () =>
    [...scopes.keys()].map((scope) =>
      watched.watch([id, 'settings', scope], (path, isOwn) => {
        const of = scope === 'global' ? null : (path.at(-1) ?? null);
        if (!isOwn && of !== null && scope !== 'user') return;
        for (const listener of listeners) void listener({ scope, of });
      }),
    );
  const scopes = new Map<SettingScope, (of?: Of) => AnySettings>();
  for (const scope of SETTING_SCOPES) {
    const schema = plugin.settings[scope];
    if (schema === undefined) continue;
    const open = openSettings(store, schema, scope === 'global' ? { plugin: id, presets } : { plugin: id });
    scopes.set(scope, (of) => {
      const key = of === undefined || of === null ? undefined : keyFor(scope, of);
      const document = (check?: CheckChanges) =>
        announcing(open(settingsPath(id, scope, key), check), { scope, of: key ?? null }, listeners);
      if (scope !== 'guild') return document();
      const here = () => ceilings.of(id, key ?? null);
      const stored =
        key === undefined ? defaultsOf(schema) : document((changes) => checkCeilings(changes, ofGuild, here));
      return belowCeilings(stored, bounds, here);
    });
  }
  const document = (scope: SettingScope, of?: HasId | MemberKey): AnySettings => {
    const open = scopes.get(scope);
    if (open === undefined) throw unknownSetting(id, scope, [...scopes.keys()]);
    return open(of);
  };

  const storedIn = async (
    scope: SettingScope,
    of: HasId | MemberKey | undefined,
  ): Promise<Readonly<Record<string, unknown>>> => {
    // Reading it through its schema puts a damaged document aside.
    await document(scope, of).get();
    const key = of === undefined ? undefined : keyFor(scope, of);
    return storedValues(await store.stored(settingsPath(id, scope, key)));
  };
  const stored: StoredSettings = {
    async get(scope, key) {
      const values = await storedIn(scope, key);
      const fields = fieldsOf(plugin).filter((field) => field.scope === scope && !field.secret);
      return Object.fromEntries(
        fields.flatMap((field) => (field.key in values ? [[field.key, values[field.key]]] : [])),
      );
    },
    names: async (scope, of) => Object.keys(await storedIn(scope, of)),
    keys: async (scope) =>
      scopes.has(scope) ? (await store.list([id, 'settings', scope])).flatMap((path) => path.at(-1) ?? []) : [],
    async problemOf(scope, key, changes) {
      const schema = plugin.settings[scope];
      if (schema === undefined) return { key: undefined, detail: 'it has no such settings' };
      try {
        if (scope === 'guild') await checkCeilings(changes, ofGuild, () => ceilings.of(id, key));
      } catch (error) {
        if (!(error instanceof CinnabarError)) throw error;
        const { key: wrong, detail = error.message } = error.params;
        return { key: wrong === undefined ? undefined : String(wrong), detail: String(detail) };
      }
      const known = Object.entries({ ...(await storedIn(scope, key)), ...changes });
      const parsed = schema.safeParse(
        Object.fromEntries(known.filter(([name, value]) => name in schema.shape && value !== undefined)),
      );
      if (parsed.success) return undefined;
      const { key: wrong, message } = invalid(parsed.error);
      return { key: wrong, detail: message };
    },
    async set(scope, key, changes) {
      await document(scope, key).set({ ...changes });
    },
  };

  const collections = Object.entries(plugin.collections).map(([name, definition]) => {
    const path = collectionPath(id, definition.scope, name);
    const collection = openCollection(watched, definition, path);
    const { personal } = definition;
    const about = async (userId: string) => {
      await subjects.complete(`${path.join('/')} ${plugin.manifest.version}`, async function* () {
        if (typeof personal !== 'object') return;
        for await (const [key, document] of collection.entries()) yield [[...path, key], peopleIn(document, personal)];
      });
      const keys = await subjects.keysBelow(userId, path);
      await store.preload(keys.map((key) => [...path, key]));
      return keys;
    };
    const stored = { erase: (key: string) => store.erase([...path, key]), about };
    return { name, collection, personal: personalCollection(id, name, definition, collection, stored) };
  });

  return {
    plugin,
    document,
    ceilings: (guildId) => ceilings.of(id, guildId),
    personal: collections.flatMap(({ personal }) => personal ?? []),
    stored,
    close() {
      for (const stop of stops) stop();
    },
    storage: {
      settings: Object.fromEntries(
        [...scopes].map(([scope, open]) => {
          if (scope === 'global') return [scope, open()];
          const ofOne = (of: Of) => open(of);
          return [scope, scope === 'guild' ? Object.assign(ofOne, { changedIn: () => stored.keys('guild') }) : ofOne];
        }),
      ),
      onChange(listener) {
        if (listeners.size === 0) following = follow();
        listeners.add(listener);
        return () => {
          if (listeners.delete(listener) && listeners.size === 0) for (const stop of following) stop();
        };
      },
      collections: Object.fromEntries(collections.map(({ name, collection }) => [name, collection])),
    },
  };
}

type Of = HasId | MemberKey | null;

/** A document whose changes resolve after the listeners have been called and have ended. */
function announcing(
  document: AnySettings,
  change: SettingsChange,
  listeners: ReadonlySet<(change: SettingsChange) => unknown>,
): AnySettings {
  const announced = async <T>(saving: Promise<T>): Promise<T> => {
    const values = await saving;
    await Promise.all([...listeners].map((listener) => listener(change)));
    return values;
  };
  return {
    get: () => document.get(),
    set: (values) => announced(document.set(values)),
    update: (body) => announced(document.update(body)),
    reset: (key) => announced(document.reset(key)),
  };
}

/** The guild settings in direct messages: the defaults, which cannot be changed there. */
function defaultsOf(schema: z.ZodObject): AnySettings {
  const refuse = async () => {
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: 'settings', detail: 'it is kept by server.' });
  };
  return { get: async () => schema.parse({}), set: refuse, update: refuse, reset: refuse };
}

/** For schemas that parse once: otherwise zod would compile a function for each of them. */
const ONCE = { jitless: true };

function checkDefaults(plugin: Plugin): void {
  for (const scope of SETTING_SCOPES) {
    const parsed = plugin.settings[scope]?.safeParse({}, ONCE);
    if (parsed === undefined || parsed.success) continue;
    const key = invalid(parsed.error).key ?? 'settings';
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', {
      place: plugin.manifest.id,
      detail: `its ${scope} setting "${key}" needs a default or has to be optional`,
    });
  }
}

function checkPresets(plugin: Plugin, presets: Presets, placeOf: (key: string) => string): void {
  const { id } = plugin.manifest;
  const schema = plugin.settings.global;
  const keys = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(presets).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const detail = `${placeOf(unknown)}: ${unknownSetting(id, unknown, keys).message}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
  }
  const parsed = schema?.safeParse(presets, ONCE);
  if (parsed === undefined || parsed.success) return;
  const { key = '', message } = invalid(parsed.error);
  // The key is removed from the message, since the place contains it.
  const detail = `${placeOf(key)}${message.startsWith(key) ? message.slice(key.length) : `: ${message}`}`;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}
