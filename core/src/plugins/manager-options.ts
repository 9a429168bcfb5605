import type { Clock, ErasedContext, Logger } from '@cinnabar/sdk';
import type { Boundary, GuildStates, Owner } from '../contracts.js';
import type { Discover } from './discovery/discovery.js';
import type { GuardStore } from './guards.js';
import type { PluginChange } from './lifecycle/change-queue.js';
import type { PluginLoader } from './loader.js';
import type { PluginServices } from './services.js';
import type { SetupNeeds } from './setup-needs.js';

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
