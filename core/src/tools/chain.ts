import { CinnabarError, type Logger, type Outcome, type SettledOutcome } from '@cinnabar/sdk';
import type { Boundary, EnabledIn } from '../contracts.js';
import type { LiveCall } from './call.js';
import type { InterceptorRegistry, RegisteredInterceptor } from './interceptors.js';
import { failed } from './outcomes.js';
import { brokenInterceptor, reconcile } from './reconcile.js';
import { viewFor } from './view.js';

interface Parts {
  readonly interceptors: InterceptorRegistry;
  readonly enabledIn: EnabledIn;
  readonly boundary: Boundary;
  readonly execute: (call: LiveCall) => Promise<SettledOutcome>;
  readonly log: Logger;
}
type Next = () => Promise<SettledOutcome>;

/** Leads a call through the interceptors that are switched on where it was asked for or where it takes effect, and at last to `execute`. */
export function createChain({ interceptors, enabledIn, boundary, execute, log }: Parts) {
  /** @param onDeferred gets the note of an interceptor that waits, as soon as it does, however far in it is */
  return function pass(call: LiveCall, onDeferred: (note: string) => void): Promise<SettledOutcome> {
    const { actor, at = actor } = call;
    const around = interceptors
      .all()
      .filter(({ owner: { plugin } }) => enabledIn(actor.guildId, plugin) || enabledIn(at.guildId, plugin));

    const enter = (index: number): Promise<SettledOutcome> => {
      const here = around[index];
      return here === undefined
        ? execute(call)
        : wrap(
            here,
            onceDecided(call, () => enter(index + 1)),
          );
    };

    const wrap = async (here: RegisteredInterceptor, next: Next): Promise<SettledOutcome> => {
      const { name } = here.interceptor;
      try {
        if (here.gone()) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: here.owner.id, state: 'stopping' });
        const outcome = await boundary.track(here.owner, () => here.interceptor.handle(viewFor(here, call), next));
        return await reconcile(call, name, await settledOf(outcome, onDeferred), log);
      } catch (error) {
        log.error('an interceptor failed, so the call was not let through', {
          interceptor: name,
          callId: call.id,
          error,
        });
        return reconcile(call, name, brokenInterceptor(call, name), log);
      }
    };

    return enter(0);
  };
}

/** However often it is called, what lies further in happens once, and not while a decision is waited for. */
function onceDecided(call: LiveCall, go: Next): Next {
  let begun: Promise<SettledOutcome> | undefined;
  return () => {
    const state = call.row()?.state;
    if (begun === undefined && state === 'pending') {
      return Promise.resolve(failed(call.id, 'CINNABAR_TOOL_STATE', { call: call.id, state }));
    }
    begun ??= state === undefined ? call.ended : go();
    return begun;
  };
}

function settledOf(outcome: Outcome, onDeferred: (note: string) => void): SettledOutcome | Promise<SettledOutcome> {
  if (outcome.status !== 'deferred') return outcome;
  onDeferred(outcome.note);
  return outcome.settled;
}
