import {
  CinnabarError,
  type Disposer,
  type Interceptor,
  type Logger,
  type Outcome,
  type SettledOutcome,
  type ToolCall,
} from '@cinnabar/sdk';
import type { Boundary, EnabledIn, Owner } from '../contracts.js';
import type { LiveCall } from './call.js';
import { failed } from './outcomes.js';

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

interface RegisteredInterceptor {
  readonly owner: Owner;
  readonly interceptor: Interceptor;
  /** Calls that wait for it, or for which it got an approval and that have not ended. */
  readonly held: Set<LiveCall>;
  /** Whether it was taken back, or its plugin is stopping: it lets nothing through any more. */
  gone(): boolean;
}

interface InterceptorRegistry {
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

/** Ends calls that nobody can decide any more. */
export async function expireHeld({ interceptor }: RegisteredInterceptor, calls: Iterable<LiveCall>): Promise<void> {
  const reason = `"${interceptor.name}" was stopped before this was decided, so it was not run`;
  await Promise.all([...calls].map((call) => call.settle({ status: 'expired', callId: call.id, reason })));
}

/** A call as one interceptor sees it. Every step is a compare and swap in the ledger, written before it resolves. */
function viewFor(by: RegisteredInterceptor, call: LiveCall): ToolCall {
  const { id, trail } = call;
  return {
    id,
    tool: call.tool.info,
    input: call.input,
    argumentsHash: call.argumentsHash,
    actor: call.actor,
    at: call.at,
    origin: call.origin,
    session: call.session,
    step: call.step,
    messageId: call.messageId,
    signal: call.signal,
    card: call.card,
    policy: call.policy,
    reading: call.reading,
    async hold() {
      if (!(await call.move(['proposed'], 'pending'))) {
        throw new CinnabarError('CINNABAR_TOOL_STATE', { call: id, state: call.row()?.state ?? 'over' });
      }
      trail.note({ heldBy: by.interceptor.name });
      by.held.add(call);
      void call.ended.then(() => by.held.delete(call));
      // Taken back while this was written: what is held by now was not among what it gave up then.
      if (by.gone()) await expireHeld(by, [call]);
    },
    keepPrivate() {
      call.keptPrivate = true;
    },
    async approve(decidedBy, share) {
      const first = await call.move(['pending'], 'approved', { decidedBy, ...(share === undefined ? {} : { share }) });
      if (first) trail.note({ decidedBy });
      return first;
    },
    async deny(decidedBy, reason) {
      const first = await call.end(['pending'], { status: 'denied', callId: id, reason }, { decidedBy });
      if (first) trail.note({ decidedBy });
      return first;
    },
    expire: (reason) => call.end(['pending'], { status: 'expired', callId: id, reason }),
  };
}

/**
 * Brings what an interceptor returned in line with the ledger, which has the last word: an outcome may be worded
 * differently, but a call that did not run cannot be made to look done, nor one that ran as if it had not.
 */
async function reconcile(
  call: LiveCall,
  interceptor: string,
  outcome: SettledOutcome,
  log: Logger,
): Promise<SettledOutcome> {
  const state = call.row()?.state;
  if (state === undefined || state === 'executing') {
    const truth = await call.ended;
    if (truth.status !== outcome.status) return truth;
    // Worded differently, it still came from where it came from, and is for whom it is for.
    const { sources, audience } = truth.status === 'done' ? truth : {};
    return {
      ...outcome,
      callId: call.id,
      ...(sources === undefined ? {} : { sources }),
      ...(audience === undefined ? {} : { audience }),
    };
  }
  if (outcome.status !== 'done') return call.settle({ ...outcome, callId: call.id });
  log.error('an interceptor called a call done that never ran', { interceptor, callId: call.id });
  return call.settle(brokenInterceptor(call, interceptor));
}

function brokenInterceptor(call: LiveCall, interceptor: string): SettledOutcome {
  const detail = `the check "${interceptor}" failed, so it was not run`;
  return failed(call.id, 'CINNABAR_TOOL_FAILED', { tool: call.tool.info.name, detail });
}
