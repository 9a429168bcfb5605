import type { Clock, ErasedContext, Logger, Plugin, PluginInfo, Plugins } from '@cinnabar/sdk';
import type { Boundary, GuildStates, Owner } from '../contracts.js';
import type { Discover } from './discovery/discovery.js';
import type { GuardStore } from './guards.js';
import type { PluginLoader } from './loader.js';
import type { PluginServices } from './services.js';

/** What the manager works with: `host.ts` composes them. */
export interface PluginManagerOptions {
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
  /** `createGuardFile(path)`, or a store of one's own. */
  readonly guardStore: GuardStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids that `boot` does not start. */
  readonly disabled?: readonly string[];
  /** Called once after each operation that started or stopped a plugin or changed where it is enabled. Errors are logged. */
  readonly onChange?: (change: PluginChange) => unknown;
  /** How long a plugin may take to load or to set up; 30 s by default. */
  readonly startTimeoutMs?: number;
  /** How long a plugin that stops may go on with what it has begun; 10 s by default. */
  readonly drainTimeoutMs?: number;
}

export interface PluginChange {
  /** Ids of the plugins whose runs, and so commands, tools and intents, may differ now. */
  readonly plugins: readonly string[];
  /** The guild where enabling changed; `null` when the change concerns every guild. */
  readonly guildId: string | null;
}

export interface BootReport {
  readonly running: readonly string[];
  /** Everything that did not start, with a sentence each: broken folders, failed plugins, those that wait. */
  readonly problems: readonly { readonly plugin: string; readonly problem: string }[];
}

/** The `Plugins` service, and what only the host may do. */
export interface PluginManager extends Plugins {
  /**
   * Finds, builds and starts plugins in dependency order. Never rejects for a plugin's sake: what fails is reported and skipped.
   * @param options.only ids or folders: nothing else is started
   */
  boot(options?: { readonly only?: readonly string[] }): Promise<BootReport>;
  /** Makes an in-memory plugin known, as if it had been found; `boot` or `load` starts it. */
  add(plugin: Plugin, from: { readonly path: string }): PluginInfo;
  /** Stops every plugin, the last started first. The host drains before that; by default nothing is waited for here. */
  stop(options?: { readonly drainTimeoutMs?: number }): Promise<void>;
  /** The running owners, in the order in which they started. */
  owners(): readonly Owner[];
  /** Guards that are enabled in the guild (`null`: a direct message) but not running: while there is one, no tool may run. */
  guards(guildId: string | null): readonly string[];
  /** Resolves when no lifecycle change is under way. */
  idle(): Promise<void>;
}
