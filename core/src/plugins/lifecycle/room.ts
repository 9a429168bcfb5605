import type { Clock, ErasedContext, Logger } from '@cinnabar/sdk';
import type { Boundary, Owner } from '../../contracts.js';
import type { PluginServices } from '../services.js';
import type { GuardBook } from './guard-book.js';
import type { PluginRecord } from './records.js';

/** What the steps of the lifecycle share. */
export interface LifecycleContext {
  readonly records: Map<string, PluginRecord>;
  readonly services: PluginServices;
  readonly createContext: (owner: Owner) => ErasedContext | Promise<ErasedContext>;
  readonly boundary: Pick<Boundary, 'drained'>;
  readonly guards: GuardBook;
  readonly clock: Clock;
  readonly log: Logger;
  readonly startTimeoutMs: number;
  readonly drainTimeoutMs: number;
  /** Aborts when the host stops: nothing starts any more, and what is being waited for is not waited for longer. */
  readonly ending: AbortSignal;
  /** Ids of the plugins that started or stopped since the last announcement. */
  readonly touched: Set<string>;
  /** Counts the runs of this host. */
  nextSequence(): number;
}
