import type { Disposer, Interceptor } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';
import type { LiveCall } from './call.js';

export interface RegisteredInterceptor {
  readonly owner: Owner;
  readonly interceptor: Interceptor;
  /** Calls that wait for it, or for which it got an approval and that have not ended. */
  readonly held: Set<LiveCall>;
  /** Whether it was taken back, or its plugin is stopping: it lets nothing through any more. */
  gone(): boolean;
}

export interface InterceptorRegistry {
  add(owner: Owner, interceptor: Interceptor): Disposer;
  /** The outermost first. */
  all(): readonly RegisteredInterceptor[];
}

/** @param onGone gets an interceptor that was taken back: nobody else can decide what it still holds */
export function createInterceptors(onGone: (gone: RegisteredInterceptor) => Promise<void>): InterceptorRegistry {
  const registered = new Set<RegisteredInterceptor>();
  return {
    add(owner, interceptor) {
      const entry: RegisteredInterceptor = {
        owner,
        interceptor,
        held: new Set(),
        gone: () => !registered.has(entry) || owner.scope.signal.aborted,
      };
      const dispose = owner.scope.add(`interceptor ${interceptor.name}`, () => {
        registered.delete(entry);
        return onGone(entry);
      });
      registered.add(entry);
      return dispose;
    },
    // The sort is stable: of the same order, whoever came first is outermost.
    all: () => [...registered].sort((a, b) => a.interceptor.order - b.interceptor.order),
  };
}
