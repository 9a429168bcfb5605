import {
  type Clock,
  createDeadline,
  createFairSlots,
  type FairBounds,
  type FairClaim,
  type Logger,
  linkSignals,
  type Place,
  type SettledOutcome,
  type ToolProgress,
} from '@cinnabar/sdk';
import type { ProvenanceService } from '../access/provenance.js';
import type { Boundary } from '../contracts.js';
import { readArguments } from './arguments.js';
import type { LiveCall } from './call.js';
import { type Gate, isSamePlace, targetOf } from './gate.js';
import { denied, doneOutcome, failed, thrownOutcome } from './outcomes.js';
import type { RegisteredTool, ToolRegistry } from './registry.js';

interface Parts {
  readonly registry: ToolRegistry;
  readonly gate: Gate;
  readonly provenance: ProvenanceService;
  readonly boundary: Boundary;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds?: FairBounds;
}

/** How many calls may run at the same time: many more than ordinary work needs, and few enough that one member's leave others room. */
export const CALL_BOUNDS: FairBounds = { total: 64, perGuild: 32, perMember: 8 };
/** How long a call waits for its turn. It ends the wait of calls that are made from within others, and would wait for themselves. */
const TURN_MS = 60_000;
const BUSY = 'too many calls are running at the same time, so it was not run; please ask again in a moment';
const STOPPED = 'its plugin is not running any more, so it was not run';
const CHANGED = 'it has changed since it was asked for, so it was not run; please ask again';
const CANCELLED = 'it was cancelled before it ran';
const NOT_FOR_ALL = 'what it read is not for everybody who is answered by it';
const UNSAVED = 'it ran, but its result could not be saved: do not simply repeat it';

/** The innermost step: waits for its turn, asks everything again, claims the call in the ledger, and runs it. At most once per call. */
export function createExecution({ registry, gate, provenance, boundary, clock, log, bounds = CALL_BOUNDS }: Parts) {
  const slots = createFairSlots(() => bounds);

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
      return await call.settle(failure(call, signal.aborted ? CANCELLED : BUSY));
    } finally {
      deadline.end();
      slots.release(id);
    }
  };

  async function executeNow(call: LiveCall): Promise<SettledOutcome> {
    try {
      const ready = await prepare(call);
      if ('refusal' in ready) return await call.settle(ready.refusal);
      // Written before it runs: a crash from here on leaves `executing`, which nobody takes for "not run".
      const claimed = await call.move(['proposed', 'approved'], 'executing');
      if (claimed) return await record(call, await addressed(call, await run(call, ready.tool)));
      const state = call.row()?.state;
      return state === undefined ? await call.ended : failed(call.id, 'CINNABAR_TOOL_STATE', { call: call.id, state });
    } catch (error) {
      return call.settle(thrownOutcome(call.id, call.tool.info.name, error, log));
    }
  }

  async function prepare(call: LiveCall): Promise<{ tool: RegisteredTool } | { refusal: SettledOutcome }> {
    const { id, actor } = call;
    const tool = registry.get(call.tool.info.name);
    if (tool === undefined) return { refusal: failure(call, STOPPED) };
    if (tool !== call.tool && !(await isSameTool(tool, call))) return { refusal: failure(call, CHANGED) };
    const at = await targetOf(tool, call.input, actor);
    // Whoever decided on it decided on that place.
    if (!isSamePlace(at, call.at)) return { refusal: failure(call, CHANGED) };
    const place = await gate.place(id, tool, actor, at);
    if (place.refusal !== undefined) return { refusal: place.refusal };
    const refusal = await refusalOfPeople(call, tool, at);
    if (refusal !== undefined) return { refusal };
    if (call.signal.aborted) return { refusal: failure(call, CANCELLED) };
    if (place.policy === 'confirm' && call.row()?.state === 'proposed') {
      return { refusal: denied(id, tool.info.name, 'it needs confirmation, and nothing here can ask for it') };
    }
    return { tool };
  }

  /** Whoever approved needs the right as much as whoever asked: as the person that they are, also where an agent asked. */
  async function refusalOfPeople(
    { id, actor, alongside, row, trail }: LiveCall,
    tool: RegisteredTool,
    at: Place | undefined,
  ) {
    const { userId, guildId, channelId } = actor;
    const approver = { userId: row()?.decidedBy ?? userId, guildId, channelId };
    for (const one of [actor, ...(approver.userId === userId ? [] : [approver]), ...alongside]) {
      const person = await gate.person(id, tool, one, at, 'fresh');
      trail.note({ access: person.reasons });
      if (person.refusal !== undefined) return person.refusal;
    }
    return undefined;
  }

  async function run(call: LiveCall, tool: RegisteredTool): Promise<SettledOutcome> {
    const { id, input, actor } = call;
    const { owner, definition } = tool;
    // Writing the claim took time: what stopped meanwhile must not run.
    if (registry.get(tool.info.name) !== tool) return failure(call, STOPPED);
    if (call.signal.aborted) return failure(call, CANCELLED);
    const { signal, release } = linkSignals(call.signal, owner.scope.signal);
    const started = clock.now();
    try {
      const told = { callId: id, key: call.key, log: owner.log.child({ callId: id }), progress: reportTo(call) };
      const context = { ...told, actor, signal, mostCharacters: call.mostCharacters };
      owner.entrusted?.give(actor);
      const output = await boundary.track(owner, async () => definition.run(input, context));
      return doneOutcome(tool, call, output);
    } catch (error) {
      return thrownOutcome(call.id, call.tool.info.name, error, owner.log);
    } finally {
      call.trail.note({ ranMs: clock.now() - started });
      release();
    }
  }

  /** For whom a result is: what was read may be more private than the place in which it was asked for, or than others who are answered by it. */
  async function addressed(call: LiveCall, outcome: SettledOutcome): Promise<SettledOutcome> {
    if (outcome.status !== 'done' || !readsOthers(call, outcome)) return outcome;
    const { sources } = outcome;
    for (const { channelId, messageIds = [] } of sources ?? []) {
      if (channelId !== undefined) provenance.messages.seen(channelId, messageIds);
    }
    if (call.alongside.length > 0 && !(await provenance.mayShow(sources, call.alongside)))
      return failure(call, NOT_FOR_ALL);
    const { decidedBy, share } = call.row() ?? {};
    // Without a decision the guild wants results told, unless an interceptor gives private ones to the requester.
    const isTold = decidedBy === undefined && !call.keptPrivate;
    if (isTold || share === 'here' || provenance.mayTell(sources, call.actor)) return outcome;
    return { ...outcome, audience: 'requester' };
  }

  /** A listener that fails is not the tool's fault, and nobody is told anything once the call is over. */
  function reportTo({ id, onProgress, row }: LiveCall) {
    return (progress: ToolProgress) => {
      if (onProgress === undefined || row() === undefined) return;
      try {
        onProgress(progress);
      } catch (error) {
        log.warn('nobody could be told of the progress of a call', { callId: id, error });
      }
    };
  }

  async function record(call: LiveCall, outcome: SettledOutcome): Promise<SettledOutcome> {
    try {
      await call.end(['executing'], outcome);
      return await call.ended;
    } catch (error) {
      return call.abandon(failure(call, UNSAVED), error);
    }
  }
}

function readsOthers({ tool }: LiveCall, { sources }: SettledOutcome & { status: 'done' }): boolean {
  return tool.info.risk === 'read' || sources?.some(({ messageIds }) => messageIds !== undefined) === true;
}

function failure(call: LiveCall, detail: string): SettledOutcome {
  return failed(call.id, 'CINNABAR_TOOL_FAILED', { tool: call.tool.info.name, detail });
}

/** Whether a tool that was loaded again is still what was asked for, and decided on. */
async function isSameTool(tool: RegisteredTool, call: LiveCall): Promise<boolean> {
  if (tool.info.plugin !== call.tool.info.plugin || tool.info.risk !== call.tool.info.risk) return false;
  const read = await readArguments(tool.definition.input, call.input);
  return read.ok && read.hash === call.argumentsHash;
}
