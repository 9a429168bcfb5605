import { setMaxListeners } from 'node:events';
import {
  CinnabarError,
  type Clock,
  type ErasedContext,
  type Logger,
  type Plugin,
  type PluginInfo,
  type Plugins,
} from '@cinnabar/sdk';
import type { Boundary, GuildStates, Owner } from '../contracts.js';
import type { Discover } from './discovery.js';
import { createGuardBook, type GuardStore } from './guard-registry.js';
import { type BootReport, boot } from './lifecycle/boot.js';
import { createChangeQueue, type PluginChange } from './lifecycle/changes.js';
import { createEnabling } from './lifecycle/enabling.js';
import { createFinder, load, unload } from './lifecycle/load.js';
import { watchServices } from './lifecycle/reconcile.js';
import { infoOf, type LifecycleContext, lastStartedFirst } from './lifecycle/records.js';
import { reload } from './lifecycle/reload.js';
import { stopAll } from './lifecycle/start-stop.js';
import type { PluginLoader } from './loader.js';
import type { PluginServices } from './services.js';
import type { SetupNeeds } from './setup-needs.js';

/** The `Plugins` service, and what only the host may do. */
export interface PluginManager extends Plugins {
  /**
   * Finds, builds and starts plugins in dependency order. What fails is reported and skipped.
   * @param options.only ids or folders: nothing else is started, or reported
   * @throws CINNABAR_PLUGIN_UNKNOWN when `only` names what there is not
   */
  boot(options?: { readonly only?: readonly string[] }): Promise<BootReport>;
  /** Makes an in-memory plugin known, as if it had been found: `boot` or `load` starts it. Again with the same id: `reload` takes the new one. */
  add(plugin: Plugin, from: { readonly path: string }): PluginInfo;
  /**
   * Aborts the signal of every plugin, the last started first, so that what is under way ends while everything is still there to answer with;
   * nothing starts any more.
   */
  cancel(): void;
  /** Stops every plugin, the last started first, for good. The host drains before that: by default nothing is waited for here. */
  stop(options?: { readonly drainTimeoutMs?: number }): Promise<void>;
  /** The running owners, in the order in which they started. */
  owners(): readonly Owner[];
  /** Guards that are enabled in the guild (`null`: a direct message) but not running: while there is one, no tool may run. */
  guards(guildId: string | null): readonly string[];
  /** Resolves when no lifecycle change is under way. */
  idle(): Promise<void>;
}

/**
 * Builds the lifecycle of plugins. One change happens at a time; the others wait for their turn.
 * A plugin must not wait for a change in its own `setup`: that one is under way.
 */
export function createPluginManager(options: PluginManagerOptions): PluginManager {
  const ending = new AbortController();
  // Every plugin that loads listens to it, all at once.
  setMaxListeners(0, ending.signal);
  const lifecycle = createRoom(options, ending.signal);
  const finder = createFinder({ lifecycle, discover: options.discover, loader: options.loader });
  const enabling = createEnabling(lifecycle, options.guildStates);
  const queue = createChangeQueue({ touched: lifecycle.touched, onChange: options.onChange, log: options.log });
  options.services.observe(watchServices(lifecycle, queue));

  const known = (id: string) => {
    const record = lifecycle.records.get(id);
    if (record === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id });
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
    stop: ({ drainTimeoutMs = 0 } = {}) => queue.last(() => stopAll(lifecycle, drainTimeoutMs)),
    list: () => [...lifecycle.records.values()].map((record) => infoOf(lifecycle, record)),
    load: (idOrFolder) => queue.run(async () => infoOf(lifecycle, await load(lifecycle, finder, idOrFolder))),
    unload: (id) => queue.run(async () => unload(lifecycle, known(id))),
    reload: (id) => queue.run(async () => reload(lifecycle, known(id))),
    enabledIn: enabling.enabledIn,
    setupNeed: options.setupNeeds.of,
    enable: (guildId, id) => enable(guildId, id, true),
    disable: (guildId, id) => enable(guildId, id, false),
    owners: () =>
      [...lifecycle.records.values()]
        .flatMap(({ run }) => run ?? [])
        .sort((a, b) => a.sequence - b.sequence)
        .map(({ owner }) => owner),
    guards: enabling.guardsDown,
    idle: queue.idle,
  };
}

function createRoom(options: PluginManagerOptions, ending: AbortSignal): LifecycleContext {
  let runs = 0;
  return {
    records: new Map(),
    services: options.services,
    createContext: options.createContext,
    boundary: options.boundary,
    guards: createGuardBook(options.guardStore, options.log),
    clock: options.clock,
    log: options.log,
    startTimeoutMs: options.startTimeoutMs ?? 30_000,
    drainTimeoutMs: options.drainTimeoutMs ?? 10_000,
    ending,
    touched: new Set(),
    nextSequence: () => ++runs,
  };
}

/** What the manager works with: `host.ts` composes them. */
interface PluginManagerOptions {
  /** `createDiscovery({ … })` */
  readonly discover: Discover;
  /** `createLoader({ … })` */
  readonly loader: PluginLoader;
  /** `createServices(container)` */
  readonly services: PluginServices;
  /** What `setup` of one run is handed. May throw (an environment variable is missing, …). */
  readonly createContext: (owner: Owner) => ErasedContext | Promise<ErasedContext>;
  readonly boundary: Pick<Boundary, 'drained'>;
  readonly guildStates: GuildStates;
  readonly setupNeeds: Pick<SetupNeeds, 'of'>;
  /** `createGuardStore(storage)` */
  readonly guardStore: GuardStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids that `boot` does not start. */
  readonly disabled?: readonly string[];
  /** Called once after each operation that started or stopped a plugin or changed where it is enabled. Errors are logged. */
  readonly onChange?: (change: PluginChange) => unknown;
  /** How long a plugin may take to load, and to set up; 30 s by default. */
  readonly startTimeoutMs?: number;
  /** How long a plugin that stops may go on with what it has begun; 10 s by default. */
  readonly drainTimeoutMs?: number;
}
