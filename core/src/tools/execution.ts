import {
  CinnabarError,
  createDeadline,
  createFairSlots,
  type Disposer,
  type FairBounds,
  type FairClaim,
  type Interceptor,
  type Logger,
  type Outcome,
  type SettledOutcome,
  type ToolCall,
  type ToolProgress,
  t,
} from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';
import { failed, type LiveCall, thrownOutcome } from './call.js';
import { cancelled, type DueCall, type Effects } from './effects.js';
import type { ToolDependencies } from './tools.js';

type Next = () => Promise<SettledOutcome>;

/** Makes a function that runs a call through the interceptors enabled in the place of the request or of the effect, and finally through `execute`. */
export function createChain(
  { enabledIn, boundary, log }: Pick<ToolDependencies, 'enabledIn' | 'boundary' | 'log'>,
  interceptors: InterceptorRegistry,
  execute: (call: LiveCall) => Promise<SettledOutcome>,
) {
  /** @param onDeferred called with the note of an interceptor, at any depth, as soon as it waits */
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
        if (here.gone())
          throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: here.owner.id, state: t('stopping') });
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

/** Makes a `next` that runs the inner steps once, however often it is called, and not while a decision is pending. */
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
  /** Calls that wait for this interceptor, or that it has approved and that have not ended. */
  readonly held: Set<LiveCall>;
  /** Whether the interceptor was removed, or its plugin is stopping: no call passes it any more. */
  gone(): boolean;
}

type InterceptorRegistry = ReturnType<typeof createInterceptors>;

/** @param onGone called with a removed interceptor: the calls that it holds can no longer be decided */
export function createInterceptors(onGone: (gone: RegisteredInterceptor) => Promise<void>) {
  const registered = new Set<RegisteredInterceptor>();
  return {
    add(owner: Owner, interceptor: Interceptor): Disposer {
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
    /** The interceptors, outermost first. The sort is stable: of several with equal `order`, the first one added is outermost. */
    all: (): readonly RegisteredInterceptor[] =>
      [...registered].sort((a, b) => a.interceptor.order - b.interceptor.order),
  };
}

/** Ends calls that can no longer be decided, because their interceptor was removed. */
export async function expireHeld({ interceptor }: RegisteredInterceptor, calls: Iterable<LiveCall>): Promise<void> {
  const reason = t('"{check}" was stopped before this was decided, so it was not run', { check: interceptor.name });
  await Promise.all([...calls].map((call) => call.settle({ status: 'expired', callId: call.id, reason })));
}

/** The view of a call for an interceptor. Every step is a compare and swap in the ledger, and resolves when it is written. */
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
      // When the interceptor was removed during this write, `held` did not contain the call yet, so it is ended here.
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
 * Checks an interceptor's result against the ledger, which decides: an interceptor may change the words of an outcome, but cannot present a call that did not
 * run as done, nor the reverse.
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
    // The interceptor's words have the sources and the audience of the actual outcome.
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
  const detail = t('the check "{check}" failed, so it was not run', { check: interceptor });
  return failed(call.id, 'CINNABAR_TOOL_FAILED', { tool: call.tool.info.name, detail });
}

/** Maximum number of running calls: many more than ordinary work needs, and few enough that one member's calls leave slots for others. */
const CALL_BOUNDS: FairBounds = { total: 64, perGuild: 32, perMember: 8 };
/** How long a call waits for a slot. The limit also ends calls that are made from within others and would wait for themselves. */
const TURN_MS = 60_000;
const busy = () => t('too many calls are running at the same time, so it was not run; please ask again in a moment');
const notForAll = () => t('not everyone who gets the answer may see what it read');
const unsaved = () => t('it ran, but its result could not be saved: do not simply repeat it');

/** The innermost step: waits for a slot, repeats all checks, claims the call in the ledger, and runs it. At most once for each call. */
export function createExecution(
  { provenance, clock, log }: Pick<ToolDependencies, 'provenance' | 'clock' | 'log'>,
  effects: Pick<Effects, 'recheck' | 'run'>,
) {
  const slots = createFairSlots(() => CALL_BOUNDS);

  return async function execute(call: LiveCall): Promise<SettledOutcome> {
    const { id, actor, signal } = call;
    const deadline = createDeadline(clock, TURN_MS, [signal]);
    try {
      const claim: FairClaim = {
        id,
        guild: actor.guildId ?? 'direct',
        member: actor.identity === undefined ? actor.userId : `identity:${actor.identity}`,
      };
      if (await slots.acquire(claim, deadline.signal)) return await executeNow(call);
      return await call.settle(failure(call, signal.aborted ? cancelled() : busy()));
    } finally {
      deadline.end();
      slots.release(id);
    }
  };

  async function executeNow(call: LiveCall): Promise<SettledOutcome> {
    try {
      const due = dueCall(call);
      const { facts, refusal } = await effects.recheck(due);
      call.trail.note(facts);
      if (refusal !== undefined) return await call.settle(refusal);
      if (call.signal.aborted) return await call.settle(failure(call, cancelled()));
      // Written before the tool runs: a crash from here on leaves `executing`, which never counts as "not run".
      const claimed = await call.move(['proposed', 'approved'], 'executing');
      if (claimed) return await record(call, await addressed(call, await run(call, due)));
      const state = call.row()?.state;
      return state === undefined ? await call.ended : failed(call.id, 'CINNABAR_TOOL_STATE', { call: call.id, state });
    } catch (error) {
      return call.settle(thrownOutcome(call.id, call.tool.info.name, error, log));
    }
  }

  /** The call for `Effects`. Its people include the approver, who as a member needs the same right as the requester, also when an agent requested the call. */
  function dueCall(call: LiveCall): DueCall {
    const { id, tool, input, argumentsHash, actor, at, alongside, key, mostCharacters } = call;
    const { userId, guildId, channelId } = actor;
    const { decidedBy = userId, state } = call.row() ?? {};
    const approver = decidedBy === userId ? [] : [{ userId: decidedBy, guildId, channelId }];
    const people = [actor, ...approver, ...alongside];
    const asked = { id, tool: tool.info, input, argumentsHash, actor, at, people };
    const { definition } = tool;
    const runsIn = definition.runsIn === undefined ? (at ?? actor).guildId : definition.runsIn(input);
    return { ...asked, isDecided: state !== 'proposed', runsIn, key, mostCharacters };
  }

  async function run(call: LiveCall, due: DueCall): Promise<SettledOutcome> {
    const { outcome, ...facts } = await effects.run(due, { signal: call.signal, onProgress: reportTo(call) });
    call.trail.note(facts);
    return outcome;
  }

  /**
   * Sets the audience of a result, since its sources may be more private than the place of the request. Refuses it when others in the turn may not read them.
   */
  async function addressed(call: LiveCall, outcome: SettledOutcome): Promise<SettledOutcome> {
    if (outcome.status !== 'done' || !readsOthers(call, outcome)) return outcome;
    const { sources } = outcome;
    for (const { channelId, messageIds = [] } of sources ?? []) {
      if (channelId !== undefined) provenance.messages.seen(channelId, messageIds);
    }
    if (call.alongside.length > 0 && !(await provenance.mayShow(sources, call.alongside)))
      return failure(call, notForAll());
    const { decidedBy, share } = call.row() ?? {};
    // Without a decision, results are shown as the guild has chosen, unless an interceptor restricts them to the requester.
    const isOpen = decidedBy === undefined && !call.keptPrivate;
    if (isOpen || share === 'here' || provenance.mayTell(sources, call.actor)) return outcome;
    return { ...outcome, audience: 'requester' };
  }

  /** Passes on progress until the call has ended. A listener that throws must not make the tool fail. */
  function reportTo({ id, onProgress, row }: LiveCall) {
    return (progress: ToolProgress) => {
      if (onProgress === undefined || row() === undefined) return;
      try {
        onProgress(progress);
      } catch (error) {
        log.warn('the progress of a call could not be reported', { callId: id, error });
      }
    };
  }

  async function record(call: LiveCall, outcome: SettledOutcome): Promise<SettledOutcome> {
    try {
      await call.end(['executing'], outcome);
      return await call.ended;
    } catch (error) {
      return call.abandon(failure(call, unsaved()), error);
    }
  }
}

function readsOthers({ tool }: LiveCall, { sources }: SettledOutcome & { status: 'done' }): boolean {
  return tool.info.risk === 'read' || sources?.some(({ messageIds }) => messageIds !== undefined) === true;
}

function failure(call: LiveCall, detail: string): SettledOutcome {
  return failed(call.id, 'CINNABAR_TOOL_FAILED', { tool: call.tool.info.name, detail });
}
