import { setMaxListeners } from 'node:events';
import { CinnabarError, type Clock, withinLimit } from '@cinnabar/sdk';
import type { Scope } from '../contracts.js';
import { runAs } from '../gateway/boundary.js';

/** Time limit of one disposer. */
const DISPOSE_MS = 5_000;

interface Effect {
  readonly label: string;
  readonly dispose: () => unknown;
  /** Set once its disposal has begun, so that it happens only once. */
  disposal?: Promise<void>;
}

/**
 * Builds the owner of everything that one run of a plugin registers. A failed early disposal rejects for its caller, and is also among the errors that `close`
 * returns.
 * @param plugin id of the plugin that owns the effects
 */
export function createScope({ plugin, clock }: { readonly plugin: string; readonly clock: Clock }): Scope {
  const live = new Set<Effect>();
  const abort = new AbortController();
  // Without a limit, since all running work of a plugin has a listener until it ends.
  setMaxListeners(0, abort.signal);
  const errors: Error[] = [];
  let closing: Promise<readonly Error[]> | undefined;
  let limitMs = DISPOSE_MS;

  const run = async (effect: Effect) => {
    try {
      const { inTime } = await withinLimit(
        clock,
        limitMs,
        Promise.resolve(runAs(plugin, `the clean-up of ${effect.label}`, effect.dispose)),
      );
      if (inTime) return;
      const seconds = limitMs / 1000;
      throw new CinnabarError('CINNABAR_DISPOSE_TIMEOUT', { label: effect.label, seconds });
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      live.delete(effect);
    }
  };
  const dispose = (effect: Effect): Promise<void> => {
    if (effect.disposal === undefined) {
      effect.disposal = run(effect);
      // Most callers do not await an early disposal, and an unhandled rejection would end the process.
      effect.disposal.catch(() => undefined);
    }
    return effect.disposal;
  };

  const cancel = () => {
    if (!abort.signal.aborted) abort.abort(new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin, state: 'stopping' }));
  };
  const disposeAll = async () => {
    cancel();
    for (const effect of [...live].reverse()) await dispose(effect).catch(() => undefined);
    return errors;
  };

  return {
    plugin,
    signal: abort.signal,
    add(label, task) {
      if (closing !== undefined) throw new CinnabarError('CINNABAR_SCOPE_CLOSED', { plugin, label });
      const effect: Effect = { label, dispose: task };
      live.add(effect);
      return () => dispose(effect);
    },
    get effects() {
      return [...live].map(({ label }) => label);
    },
    cancel,
    close(options = {}) {
      limitMs = Math.min(limitMs, options.disposeTimeoutMs ?? limitMs);
      // The signal aborts a microtask later, so that its listeners find the scope closed.
      closing ??= Promise.resolve().then(disposeAll);
      return closing;
    },
  };
}
