import type { Token } from '@cinnabar/sdk';
import type { ServiceRoom } from '../contracts.js';

/** `ServiceRoom`, and what the lifecycle needs to know of it. Host services are registered in the parent container under `token.id`. */
export interface PluginServices extends ServiceRoom {
  /** Differs for each `provide`: tells whether a service is still the one that was injected. `undefined` when there is none. */
  provision(token: Token<unknown>): number | undefined;
  /** Sets what runs around changes: `before` a service goes (its dependents stop first), `after` one has come. */
  observe(observer: ServiceObserver): void;
}

export interface ServiceObserver {
  beforeRemoval(tokenId: string): Promise<void>;
  afterProvision(tokenId: string): void;
}
