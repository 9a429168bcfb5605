import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type Clock,
  type ExplainedTool,
  type Identities,
  type Logger,
  type Outcome,
  type SettledOutcome,
  sleep,
  type ToolInfo,
  type ToolRequest,
  withinLimit,
  z,
} from '@cinnabar/sdk';
import type { ToolService } from '../contracts.js';
import { groupOf } from '../gateway/partition.js';
import { failed, outcomeOf, thrownOutcome } from '../tools/call.js';
import type { Assignment, RequestKind } from './assignment.js';
import { type AbortableRequests, createCarrier, objectWith } from './channel.js';

/** Deadline for the list of offered tools. */
const OFFERED_MS = 15_000;
/** How long one request waits for the end of a call, which can wait for its decision for hours. */
const SETTLED_MS = 20_000;
const ANSWERED_MS = 10_000;
const RETRY_MS = 5_000;
/** How long the full outcome of a held call is kept for its requester; after that the ledger's entry is returned. */
const KEPT_MS = 10 * 60_000;

/** The part of a request that JSON can carry: steps and the abort signal stay in the requesting process. */
type CarriedRequest = Omit<ToolRequest, 'signal' | 'step' | 'onProgress'>;
type CarriedOutcome = SettledOutcome | Omit<Extract<Outcome, { status: 'deferred' }>, 'settled'>;

const actor = objectWith<Actor>('userId');
const tools = z.array(objectWith<ToolInfo>('name'));

const OFFERED: RequestKind<Actor, readonly ToolInfo[]> = { name: 'tools.offered', body: actor, answer: tools };
const AVAILABLE: RequestKind<Actor, readonly ToolInfo[]> = { name: 'tools.available', body: actor, answer: tools };
interface Questioned {
  readonly actor: Actor;
  readonly name: string;
}
const EXPLAIN: RequestKind<Questioned, ExplainedTool | null> = {
  name: 'tools.explain',
  body: z.object({ actor, name: z.string() }),
  answer: objectWith<ExplainedTool>('allowed').nullable(),
};
const INVOKE: RequestKind<{ readonly id: string; readonly request: CarriedRequest }, CarriedOutcome> = {
  name: 'tools.invoke',
  body: z.object({ id: z.string(), request: objectWith<CarriedRequest>('actor') }),
  answer: objectWith<CarriedOutcome>('status'),
};
/** How a call that was held has ended; `null` while it has not. */
const SETTLED: RequestKind<{ readonly callId: string; readonly tool: string }, SettledOutcome | null> = {
  name: 'tools.settled',
  body: z.object({ callId: z.string(), tool: z.string() }),
  answer: objectWith<SettledOutcome>('status').nullable(),
};

/**
 * Tools for the servers of all groups: a client reaches one host, and may act in any server. A call for a server of another group is forwarded to that group's
 * host, which authorizes it, holds it where a member has to confirm it, runs it once, and records it.
 */
export function shareTools(
  own: ToolService,
  { channel, partition }: Pick<Assignment, 'channel' | 'partition'>,
  {
    requests,
    identities,
    clock,
    log,
  }: {
    readonly requests: AbortableRequests;
    readonly identities: Pick<Identities, 'get'>;
    readonly clock: Clock;
    readonly log: Logger;
  },
): ToolService {
  const carried = createCarrier({ channel, partition }, OFFERED_MS);
  const held = new Map<string, Promise<SettledOutcome>>();
  const closing = new AbortController();

  const offered = carried(OFFERED, own.offered);
  const available = carried(AVAILABLE, own.available);
  const explain = carried(EXPLAIN, async ({ actor: by, name }) => (await own.explain(by, name)) ?? null);

  requests.answer(INVOKE, async ({ request }, signal, onProgress) => {
    const outcome = await own.invoke({ ...request, signal, onProgress });
    if (outcome.status !== 'deferred') return outcome;
    const { settled, ...answer } = outcome;
    held.set(answer.callId, settled);
    void settled
      .then(() => sleep(clock, KEPT_MS, closing.signal))
      .finally(() => held.delete(answer.callId))
      .catch(() => undefined);
    return answer;
  });
  channel.answer(SETTLED, async ({ callId, tool }, signal) => {
    const settled = held.get(callId);
    if (settled !== undefined) {
      const end = await withinLimit(clock, SETTLED_MS, settled, signal);
      return end.inTime ? end.value : null;
    }
    // An earlier host of the group held the call.
    const row = await own.ledger.get(callId);
    return row === undefined ? failed(callId, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool }) : outcomeOf(row);
  });

  /** Repeats the request until the call has ended, also when its host changes. */
  const endOf = async (group: number, callId: string, tool: string): Promise<SettledOutcome> => {
    while (!closing.signal.aborted) {
      try {
        const deadlineMs = SETTLED_MS + ANSWERED_MS;
        const outcome = await channel.ask(group, SETTLED, { callId, tool }, { deadlineMs, signal: closing.signal });
        if (outcome !== null) return outcome;
      } catch (error) {
        log.debug('how a call ended is asked again', { callId, error });
        await sleep(clock, RETRY_MS, closing.signal);
      }
    }
    return failed(callId, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool });
  };

  /**
   * The guild whose host handles a call: that of its actor. For an agent it is the guild in which the call takes effect, if the agent has a grant there,
   * because it asks for confirmations there.
   */
  const homeOf = async (request: ToolRequest): Promise<string | null> => {
    const { identity, guildId } = request.actor;
    if (identity === undefined) return guildId;
    try {
      const grants = (await identities.get(identity))?.grants ?? [];
      if (grants.every((grant) => grant.guildId === guildId)) return guildId;
      const place = await own.placeOf(request);
      return place !== undefined && grants.some((grant) => grant.guildId === place.guildId) ? place.guildId : guildId;
    } catch {
      // The call itself fails with the reason.
      return guildId;
    }
  };

  const invokeIn = async (group: number, { signal, step: _step, onProgress, ...request }: ToolRequest) => {
    try {
      const call = { id: randomUUID(), request };
      const outcome = await requests.ask(group, INVOKE, call, { signal, onProgress });
      if (outcome.status !== 'deferred') return outcome;
      return { ...outcome, settled: endOf(group, outcome.callId, request.name) };
    } catch (error) {
      return thrownOutcome('', request.name, error, log);
    }
  };

  return {
    ...own,
    offered: (by) => offered(by, by),
    available: (by) => available(by, by),
    explain: async (by, name) => (await explain(by, { actor: by, name })) ?? undefined,
    async invoke(request) {
      const guildId = await homeOf(request);
      return partition.owns(guildId) ? own.invoke(request) : invokeIn(groupOf(guildId, partition.groups), request);
    },
    close() {
      closing.abort();
      return own.close();
    },
  };
}
