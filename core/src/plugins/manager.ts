import { AsyncResource } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import {
  CinnabarError,
  type Clock,
  type EnvSchema,
  type ErasedContext,
  type Logger,
  type Manifest,
  type Plugin,
  type PluginInfo,
  type Plugins,
  t,
  z,
} from '@cinnabar/sdk';
import PQueue from 'p-queue';
import type { Boundary, GuildStates, Owner, OwnerState, StorageService } from '../contracts.js';
import { isEnabledIn } from '../gateway/guild-states.js';
import type { Diagnoses, SetupNeeds, Silences } from './context.js';
import type { Discover } from './discovery.js';
import { type BootReport, boot, createFinder, forget, load, unload } from './lifecycle/load.js';
import {
  assertNotRequired,
  infoOf,
  type LifecycleContext,
  lastStartedFirst,
  unknownPlugin,
} from './lifecycle/records.js';
import { reload, update } from './lifecycle/reload.js';
import { stopAll, watchServices } from './lifecycle/start-stop.js';
import type { PluginLoader } from './loader.js';
import type { PluginServices } from './services.js';

/** The `Plugins` service, and functions for the host only. */
export interface PluginManager extends Plugins {
  /**
   * Finds, builds and starts plugins in dependency order. A plugin that fails is reported and skipped.
   * @param options.only ids or folders: no other plugin is started, or reported
   * @throws CINNABAR_PLUGIN_UNKNOWN when `only` names an unknown plugin
   */
  boot(options?: { readonly only?: readonly string[] }): Promise<BootReport>;
  /** Registers an in-memory plugin, which `boot` or `load` starts. A second call with the same id sets the version for `reload`. */
  add(plugin: Plugin, from: { readonly path: string }): PluginInfo;
  /** Replaces an installed plugin by the version in another folder. @throws the errors of `reload`: the old version then continues */
  update(id: string, folder: string): Promise<void>;
  /** Removes a plugin that is not loaded. @throws CINNABAR_PLUGIN_STATE for a loaded one */
  forget(id: string): Promise<void>;
  /**
   * Aborts the signal of every plugin, the last started first, so that running work ends while services are still available for its answers; no plugin starts
   * any more.
   */
  cancel(): void;
  /** Stops every plugin permanently, the last started first. Does not wait for running work, for which the host waits before. */
  stop(): Promise<void>;
  /** The environment variables that loaded plugins declare, whether or not they run. */
  environments(): readonly { readonly id: string; readonly env: EnvSchema }[];
  /** The running owners, in the order in which they started. */
  owners(): readonly Owner[];
  /** Whether the plugin can never be switched off. */
  isRequired(id: string): boolean;
  /** Guards that are enabled in the guild (`null`: a direct message) but not running. While there is one, no tool may run. */
  guards(guildId: string | null): readonly string[];
  /** Resolves when no lifecycle change is under way. */
  idle(): Promise<void>;
}

/**
 * Builds the plugin lifecycle. Changes run one at a time. A plugin must not await a change in its `setup`, which runs within a change: it would wait for
 * itself.
 */
export function createPluginManager(options: PluginManagerOptions): PluginManager {
  const ending = new AbortController();
  // Without a limit, since every plugin that is being loaded has a listener.
  setMaxListeners(0, ending.signal);
  const lifecycle = createLifecycle(options, ending.signal);
  const finder = createFinder(lifecycle, options.discover, options.loader);
  const enabling = createEnabling(lifecycle, options.guildStates, options.ownerState);
  const queue = createChangeQueue(lifecycle.touched, options.onChange, options.log);
  options.services.observe(watchServices(lifecycle, queue));

  const known = (id: string) => {
    const record = lifecycle.records.get(id);
    if (record === undefined) throw unknownPlugin(id, lifecycle.records);
    return record;
  };
  const enable = async (guildId: string, id: string, enabled: boolean) => {
    await enabling.set(guildId, id, enabled);
    queue.announce({ plugins: [id], guildId });
  };

  return {
    boot: ({ only } = {}) => queue.run(() => boot(lifecycle, finder, { only, disabled: options.disabled ?? [] })),
    add: (plugin, { path }) => infoOf(lifecycle, finder.add(plugin, path)),
    cancel() {
      ending.abort();
      for (const { run } of lastStartedFirst([...lifecycle.records.values()])) run?.owner.scope.cancel();
    },
    stop: () => queue.last(() => stopAll(lifecycle)),
    list: () => [...lifecycle.records.values()].map((record) => infoOf(lifecycle, record)),
    load: (idOrFolder) => queue.run(async () => infoOf(lifecycle, await load(lifecycle, finder, idOrFolder))),
    unload: (id) => queue.run(async () => unload(lifecycle, known(id))),
    reload: (id) => queue.run(async () => reload(lifecycle, known(id))),
    update: (id, folder) => queue.run(async () => update(lifecycle, known(id), await finder.originIn(folder, id))),
    forget: (id) => queue.run(async () => forget(lifecycle, known(id))),
    enabledIn: enabling.enabledIn,
    isRequired: (id) => lifecycle.records.get(id)?.manifest.required === true,
    setupNeed: options.setupNeeds.of,
    diagnose: options.diagnoses.of,
    silenceReasons: (message) => options.silences.of(message, (id) => enabling.enabledIn(message.guildId, id)),
    enable: (guildId, id) => enable(guildId, id, true),
    disable: (guildId, id) => enable(guildId, id, false),
    environments: () =>
      [...lifecycle.records.values()].flatMap(({ id, definition }) =>
        definition?.env === undefined ? [] : [{ id, env: definition.env }],
      ),
    async setDefault(id, enabled) {
      await enabling.setDefault(id, enabled);
      queue.announce({ plugins: [id], guildId: null });
    },
    owners: () =>
      [...lifecycle.records.values()]
        .flatMap(({ run }) => run ?? [])
        .sort((a, b) => a.sequence - b.sequence)
        .map(({ owner }) => owner),
    guards: enabling.guardsDown,
    idle: queue.idle,
  };
}

function createLifecycle(options: PluginManagerOptions, ending: AbortSignal): LifecycleContext {
  let runs = 0;
  return {
    records: new Map(),
    services: options.services,
    createContext: options.createContext,
    boundary: options.boundary,
    guards: createGuardRegistry(options.guardStore, options.log),
    clock: options.clock,
    log: options.log,
    ending,
    touched: new Set(),
    nextSequence: () => ++runs,
  };
}

/** The dependencies of the manager: `host.ts` composes them. */
interface PluginManagerOptions {
  /** `createDiscovery({ … })` */
  readonly discover: Discover;
  /** `createLoader({ … })` */
  readonly loader: PluginLoader;
  /** `createServices(container)` */
  readonly services: PluginServices;
  /** The context for `setup` of one run. May throw (an environment variable is missing, …). */
  readonly createContext: (owner: Owner) => ErasedContext | Promise<ErasedContext>;
  readonly boundary: Pick<Boundary, 'drained'>;
  readonly guildStates: GuildStates;
  readonly ownerState: OwnerState;
  readonly setupNeeds: Pick<SetupNeeds, 'of'>;
  readonly diagnoses: Pick<Diagnoses, 'of'>;
  readonly silences: Pick<Silences, 'of'>;
  /** `createGuardStore(storage)` */
  readonly guardStore: GuardStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids that `boot` does not start. */
  readonly disabled?: readonly string[];
  /** Called once after each operation that started or stopped a plugin or changed where it is enabled. Errors are logged. */
  readonly onChange?: (change: PluginChange) => unknown;
}

export interface PluginChange {
  /** Ids of the plugins that were started or stopped, or whose enabling changed, so that commands, tools and intents may differ. */
  readonly plugins: readonly string[];
  /** The guild where enabling changed; `null` when the change concerns every guild. */
  readonly guildId: string | null;
}

export type ChangeQueue = ReturnType<typeof createChangeQueue>;

/**
 * Runs one lifecycle change at a time, and announces each to the host.
 * @param touched ids of the plugins that started or stopped; emptied by each announcement
 */
function createChangeQueue(
  touched: Set<string>,
  onChange: ((change: PluginChange) => unknown) | undefined,
  log: Logger,
) {
  const queue = new PQueue({ concurrency: 1 });
  let ended = false;

  const announce = (change: PluginChange) => {
    Promise.resolve(change)
      .then(onChange)
      .catch((error: unknown) => log.error('the host could not take in a change of its plugins', { error }));
  };
  const announced = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      return await change();
    } finally {
      const plugins = [...touched];
      touched.clear();
      if (plugins.length > 0) announce({ plugins, guildId: null });
    }
  };
  // Bound, so that a change runs in the asynchronous context of its request, and not in that of the previous change.
  const enqueue = <T>(change: () => Promise<T>) => queue.add(AsyncResource.bind(() => announced(change)));

  return {
    /** @throws CINNABAR_PLUGIN_STATE once the last change has begun */
    run: <T>(change: () => Promise<T>): Promise<T> =>
      enqueue(() => {
        if (!ended) return change();
        throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: 'host', state: t('stopping') });
      }),
    /** Runs the last change: later calls of `run` reject. */
    last: (change: () => Promise<void>): Promise<void> =>
      enqueue(() => {
        ended = true;
        return change();
      }),
    announce,
    get ended() {
      return ended;
    },
    idle: (): Promise<void> => queue.onIdle(),
  };
}

/** The guilds in which plugins are enabled. */
function createEnabling(
  { records, guards }: Pick<LifecycleContext, 'records' | 'guards'>,
  states: GuildStates,
  ownerState: OwnerState,
) {
  const known = (id: string) => records.get(id)?.manifest ?? guards.get(id);

  return {
    enabledIn(guildId: string | null, id: string): boolean {
      const manifest = known(id);
      return manifest !== undefined && isEnabledIn(states, ownerState, guildId, manifest);
    },
    /** @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_REQUIRED */
    async setDefault(id: string, enabled: boolean | undefined): Promise<void> {
      const record = records.get(id);
      if (record === undefined) throw unknownPlugin(id, records);
      if (enabled === false) assertNotRequired(record);
      await ownerState.update((draft) => {
        const others = Object.entries(draft.plugins).filter(([other]) => other !== id);
        return { ...draft, plugins: Object.fromEntries(enabled === undefined ? others : [...others, [id, enabled]]) };
      });
    },
    /** @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_REQUIRED */
    async set(guildId: string, id: string, enabled: boolean): Promise<void> {
      if (known(id) === undefined) throw unknownPlugin(id, records);
      const record = records.get(id);
      if (!enabled && record !== undefined) assertNotRequired(record);
      await states.update(guildId, (draft) => ({ ...draft, plugins: { ...draft.plugins, [id]: enabled } }));
    },
    /** Guards that are enabled in the guild, but not running. */
    guardsDown: (guildId: string | null): readonly string[] =>
      guards
        .all()
        .filter((guard) => records.get(guard.id)?.run === undefined && isEnabledIn(states, ownerState, guildId, guard))
        .map(({ id }) => id)
        .sort(),
  };
}

export type GuardRegistry = ReturnType<typeof createGuardRegistry>;

/** The plugins that are known to guard tools, whether or not they can be loaded now. */
function createGuardRegistry(store: GuardStore, log: Logger) {
  const known = new Map<string, KnownGuard>();

  return {
    /** Reads the guards that earlier runs of the host have stored. */
    async open(): Promise<void> {
      try {
        for (const guard of await store.read()) known.set(guard.id, guard);
      } catch (error) {
        log.error('the list of plugins that guard tools cannot be read; it is made anew from those that load', {
          error,
        });
      }
    },
    /** Records or removes a guard, as its manifest declares. Resolves when this is written; a failed write is logged. */
    async note({ id, guard = false, enabledByDefault = true }: Manifest): Promise<void> {
      const before = known.get(id);
      if (guard ? before?.enabledByDefault === enabledByDefault : before === undefined) return;
      if (guard) known.set(id, { id, enabledByDefault });
      else known.delete(id);
      try {
        await store.write([...known.values()]);
      } catch (error) {
        log.error('the list of plugins that guard tools cannot be written', { error });
      }
    },
    get: (id: string): KnownGuard | undefined => known.get(id),
    all: (): readonly KnownGuard[] => [...known.values()],
  };
}

const schema = z.object({ guards: z.array(z.object({ id: z.string(), enabledByDefault: z.boolean() })).default([]) });

/** Stores the known guards in the host's own storage. */
export function createGuardStore(storage: StorageService): GuardStore {
  const document = storage.collection('guards', { scope: 'global', version: 1, schema }).of('known');
  return {
    read: async () => (await document.get()).guards,
    async write(guards) {
      await document.set({ guards: guards.map((guard) => ({ ...guard })) });
    },
  };
}

/** State about plugins that guard tools that survives a restart, so that a broken guard still blocks tools. */
export interface KnownGuard {
  readonly id: string;
  readonly enabledByDefault: boolean;
}

interface GuardStore {
  read(): Promise<readonly KnownGuard[]>;
  write(guards: readonly KnownGuard[]): Promise<void>;
}
