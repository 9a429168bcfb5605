import 'reflect-metadata';
import { join } from 'node:path';
import { createDiscovery, type Discover } from '@cinnabar/core';
import { createMetrics } from '@cinnabar/core/internal/observability/metrics';
import { createVersions } from '@cinnabar/core/internal/plugins/check/trial-host';
import { createDefinitionPool, createLoader } from '@cinnabar/core/internal/plugins/loader';
import {
  createPluginManager,
  type KnownGuard,
  type PluginChange,
  type PluginManager,
} from '@cinnabar/core/internal/plugins/manager';
import { createScope } from '@cinnabar/core/internal/plugins/scope';
import { createServices, type PluginServices } from '@cinnabar/core/internal/plugins/services';
import { definePlugin, type Logger, type Manifest, type Plugin } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { container, type DependencyContainer } from 'tsyringe';
import { memoryGuildStates, memoryOwnerState } from '../../../support/guild-states.js';
import { formatTexts } from '../../../support/languages.js';
import { recordingLogger } from '../../../support/logs.js';
import { createScopeContexts } from './context.js';

/** The environment of a plugin's run. */
interface Surroundings {
  readonly clock?: ManualClock;
  readonly log?: ReturnType<typeof recordingLogger>;
}

/** One run of a plugin, for the registries. */
export function runOf(plugin: Plugin, { clock = createManualClock(), log = recordingLogger() }: Surroundings = {}) {
  const { id } = plugin.manifest;
  return { id, plugin, scope: createScope({ plugin: id, clock }), log };
}
/** A run with any logger. */
export type Run = Omit<ReturnType<typeof runOf>, 'log'> & { readonly log: Logger };

/** One run of an empty plugin. */
export function ownerOf(id: string, manifest: Partial<Manifest> = {}, surroundings: Surroundings = {}) {
  const plugin = definePlugin({
    manifest: { id, version: '1.0.0', description: `The ${id} plugin`, ...manifest },
    setup: () => undefined,
  });
  return runOf(plugin, surroundings);
}

export interface PluginHarness {
  readonly manager: PluginManager;
  readonly clock: ManualClock;
  readonly services: PluginServices;
  /** The container in which the host's own services are registered. */
  readonly hostServices: DependencyContainer;
  /** Ids of plugins with a running handler that does not end. */
  readonly busy: Set<string>;
  readonly changes: PluginChange[];
  /** Log messages at `warn` and `error`. */
  readonly complaints: string[];
  /** The stored guards; passed to another instance, they survive a restart. */
  readonly guards: { known: readonly KnownGuard[] };
  /** Registers the plugins, and starts them. */
  boot(...plugins: readonly Plugin[]): Promise<void>;
  /** `running`, `waiting`, …, by plugin id. */
  states(): Readonly<Record<string, string>>;
  problem(id: string): string | undefined;
}

/** Files that were built before, by the entry of their plugin; `onChange` is called for one whose sources have changed since. */
interface BuiltAhead {
  readonly files: ReadonlyMap<string, string>;
  readonly onChange: () => void;
}

/** A loader that builds plugins into a folder, and evaluates them, in a host 0.1.0. */
export function loaderIn(cacheDir: string, builtPlugins?: BuiltAhead) {
  return createLoader({ cacheDir, hostVersion: '0.1.0', ...(builtPlugins === undefined ? {} : { builtPlugins }) });
}

/** Two such loaders that use the definitions of one process one after another, as `cinnabar eval` does. */
export function loadersOfOneProcess(cacheDir: string) {
  const pool = createDefinitionPool();
  return [pool.borrow(), pool.borrow()].map(({ reuse, builtPlugins }) =>
    createLoader({ cacheDir, hostVersion: '0.1.0', reuse, builtPlugins }),
  );
}

interface HarnessOptions {
  readonly discover?: Discover;
  readonly loader?: ReturnType<typeof loaderIn>;
  readonly guards?: { known: readonly KnownGuard[] };
  readonly disabled?: readonly string[];
  readonly onChange?: (change: PluginChange) => unknown;
  /** Called with every run that begins, including those that fail. */
  readonly onStart?: (owner: Run) => void;
}

/** The plugin service on a manual clock, with in-memory plugins unless folders are given. */
export function createPluginHarness(options: HarnessOptions = {}): PluginHarness {
  formatTexts();
  const clock = createManualClock();
  const hostServices = container.createChildContainer();
  const services = createServices(hostServices);
  const busy = new Set<string>();
  const changes: PluginChange[] = [];
  const complaints: string[] = [];
  const guards = options.guards ?? { known: [] };
  const contextOf = createScopeContexts(services, clock, (owner) => createMetrics(owner.log).of(owner));
  const manager = createPluginManager({
    discover: options.discover ?? (() => Promise.resolve({ plugins: [], problems: [] })),
    loader: options.loader ?? { load: () => Promise.reject(new Error('there is nothing on disk')) },
    services,
    createContext: (owner) => {
      options.onStart?.(owner);
      return contextOf(owner);
    },
    boundary: {
      drained: (timeoutMs, plugin = '') =>
        busy.has(plugin)
          ? new Promise((resolve) => clock.after(timeoutMs, () => resolve(false)))
          : Promise.resolve(true),
    },
    setupNeeds: { of: async () => undefined },
    diagnoses: { of: async () => [] },
    silences: { of: async () => [] },
    guildStates: memoryGuildStates(),
    ownerState: memoryOwnerState(),
    guardStore: {
      read: () => Promise.resolve(guards.known),
      write: (known) => {
        guards.known = known;
        return Promise.resolve();
      },
    },
    clock,
    log: createLog(complaints),
    disabled: options.disabled ?? [],
    onChange: options.onChange ?? ((change) => void changes.push(change)),
  });
  return {
    manager,
    clock,
    services,
    hostServices,
    busy,
    changes,
    complaints,
    guards,
    async boot(...plugins) {
      for (const plugin of plugins) manager.add(plugin, { path: '(memory)' });
      await manager.boot();
    },
    states: () => Object.fromEntries(manager.list().map(({ id, state }) => [id, state])),
    problem: (wanted) => manager.list().find(({ id }) => id === wanted)?.problem,
  };
}

/** The same with the plugins in the folder `plugins` of another one, built into its folder `cache`. */
export function createPluginHarnessIn(folder: string, options: HarnessOptions = {}): PluginHarness {
  return createPluginHarness({
    discover: createDiscovery({ bundled: [], folders: [join(folder, 'plugins')], packageRoots: [] }),
    loader: loaderIn(join(folder, 'cache')),
    ...options,
  });
}

function createLog(complaints: string[]): Logger {
  const complain = (message: string) => void complaints.push(message);
  const log: Logger = {
    error: complain,
    warn: complain,
    info: () => undefined,
    debug: () => undefined,
    trace: () => undefined,
    traces: false,
    child: () => log,
  };
  return log;
}

/** Counts the versions of plugins that are still in memory. `collectGarbage` is Node's `gc`. */
export const watchVersions = (collectGarbage: () => void) => createVersions(collectGarbage);
export type WatchedVersions = ReturnType<typeof watchVersions>;
