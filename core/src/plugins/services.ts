import { CinnabarError, type Injection, type Token } from '@cinnabar/sdk';
import type { DependencyContainer } from 'tsyringe';
import type { ServiceRegistry } from '../contracts.js';

/** `ServiceRegistry`, and the functions that the lifecycle needs. */
export interface PluginServices extends ServiceRegistry {
  /** The number of the `provide` call of the present service, which identifies the service; `undefined` when there is none. */
  provision(tokenId: string): number | undefined;
  /** Id of the plugin that provides the service; `undefined` for the host's services and when there is none. */
  providerOf(tokenId: string): string | undefined;
  /** Whether the host provides the service. */
  ofHost(tokenId: string): boolean;
  /** Sets the observer of changes. */
  observe(observer: ServiceObserver): void;
}

export interface ServiceObserver {
  /** Called before a service is removed: stops its dependents, then calls `remove`. */
  withdraw(tokenId: string, remove: () => void): Promise<void>;
  /** Called after a service was added. */
  offered(): void;
}

interface Provided {
  readonly plugin: string;
  readonly service: unknown;
  readonly provision: number;
}

/** The provision of every host service, since these never change. */
const OF_HOST = 0;

/**
 * Builds the registry of plugin services, in a child container of the host's own.
 * @param parent where the host's services are registered, under `token.id`
 */
export function createServices(parent: DependencyContainer): PluginServices {
  const container = parent.createChildContainer();
  const provided = new Map<string, Provided>();
  let provisions = OF_HOST;
  let observer: ServiceObserver | undefined;

  const ofHost = (tokenId: string) => parent.isRegistered(tokenId, true);
  const has = (tokenId: string) => container.isRegistered(tokenId, true);

  // The container cannot remove a single registration: it is cleared, and the remaining ones are registered again.
  const remove = (tokenId: string) => {
    provided.delete(tokenId);
    container.reset();
    for (const [id, { service }] of provided) container.register(id, { useFactory: () => service });
  };

  const resolveOne = (injection: Injection): unknown => {
    const { id } = injection.kind === 'optional' ? injection.token : injection;
    if (has(id)) return container.resolve(id);
    if (injection.kind === 'optional') return undefined;
    throw new CinnabarError('CINNABAR_DEPENDENCY_MISSING', { plugin: '?', token: id });
  };

  return {
    provide(owner, token, service) {
      assertAllowed(owner.plugin.provides, owner.id, token);
      const holder = ofHost(token.id) ? 'host' : provided.get(token.id)?.plugin;
      if (holder !== undefined) {
        throw new CinnabarError('CINNABAR_TOKEN_TAKEN', { token: token.id, plugin: holder });
      }
      const take = () => remove(token.id);
      const dispose = owner.scope.add(`service ${token.id}`, () =>
        observer === undefined ? take() : observer.withdraw(token.id, take),
      );
      provisions += 1;
      provided.set(token.id, { plugin: owner.id, service, provision: provisions });
      container.register(token.id, { useFactory: () => service });
      observer?.offered();
      return dispose;
    },
    has: (token) => has(token.id),
    resolve: (injections) =>
      Object.fromEntries(Object.entries(injections).map(([key, injection]) => [key, resolveOne(injection)])),
    provision: (tokenId) => provided.get(tokenId)?.provision ?? (ofHost(tokenId) ? OF_HOST : undefined),
    providerOf: (tokenId) => provided.get(tokenId)?.plugin,
    ofHost,
    observe(next) {
      observer = next;
    },
  };
}

function assertAllowed(declared: readonly Token<unknown>[], plugin: string, { id }: Token<unknown>): void {
  if (declared.some((token) => token.id === id)) return;
  throw new CinnabarError('CINNABAR_TOKEN_UNDECLARED', { plugin, token: id });
}
