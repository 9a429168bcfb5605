import { randomUUID } from 'node:crypto';
import { type Actor, CinnabarError, type Logger, z } from '@cinnabar/sdk';
import { groupOf } from '../gateway/partition.js';
import type { LanguageService } from '../languages/languages.js';
import { failed, thrownOutcome } from '../tools/call.js';
import type { AskedCall, Considered, DueCall, Effects, Verdict } from '../tools/effects.js';
import type { Assignment, RequestKind } from './assignment.js';
import { type AbortableRequests, objectWith } from './channel.js';

/** Deadline for all requests but running a call: as long as a group may be without a process during a takeover. */
const DECIDED_MS = 15_000;

const CONSIDER: RequestKind<AskedCall, Considered> = {
  name: 'effects.consider',
  body: objectWith<AskedCall>('argumentsHash'),
  answer: objectWith<Considered>('facts'),
};
const RECHECK: RequestKind<DueCall, Verdict> = {
  name: 'effects.recheck',
  body: objectWith<DueCall>('argumentsHash'),
  answer: objectWith<Verdict>('facts'),
};
type Ran = Awaited<ReturnType<Effects['run']>>;
const RUN: RequestKind<{ readonly id: string; readonly call: DueCall }, Ran> = {
  name: 'effects.run',
  body: z.object({ id: z.string(), call: objectWith<DueCall>('argumentsHash') }),
  answer: objectWith<Ran>('outcome'),
};

/**
 * Effects in the servers of all groups: the host that serves the place decides about a call and runs it. The caller's process keeps the call in the ledger, and
 * requests the confirmation of its member.
 */
export function shareEffects(
  own: Effects,
  { channel, partition }: Pick<Assignment, 'channel' | 'partition'>,
  {
    requests,
    languages,
    log,
  }: {
    readonly requests: AbortableRequests;
    readonly languages: Pick<LanguageService, 'speak'>;
    readonly log: Logger;
  },
): Effects {
  const { groups } = partition;
  /** Runs a task in the requester's language, in which cards, refusals and results are written; for an external agent in English. */
  const speaking = <T>({ actor }: { readonly actor: Actor }, task: () => Promise<T>): Promise<T> =>
    actor.identity === undefined ? languages.speak(actor, task) : task();

  channel.answer(CONSIDER, async (call) => speaking(call, () => own.consider(call)));
  channel.answer(RECHECK, async (call) => speaking(call, () => own.recheck(call)));
  requests.answer(RUN, async ({ call }, signal, onProgress) =>
    speaking(call, () => own.run(call, { signal, onProgress })),
  );

  /** Whether this host decides. A call of a member for another server than theirs is refused, which needs no request. */
  const isHere = ({ actor, at }: AskedCall) =>
    at === undefined || partition.owns(at.guildId) || (actor.identity === undefined && actor.guildId !== null);
  const ask = <B extends AskedCall, T>(kind: RequestKind<B, T>, call: B) =>
    channel.ask(groupOf(call.at?.guildId ?? null, groups), kind, call, { deadlineMs: DECIDED_MS });

  return {
    place: own.place,
    consider: (call) => (isHere(call) ? own.consider(call) : ask(CONSIDER, plain(call))),
    recheck: (call) => (isHere(call) ? own.recheck(call) : ask(RECHECK, plain(call))),
    async run(call, { signal, onProgress }) {
      const { tool, runsIn } = call;
      // An aborted call is refused without a request.
      if (signal.aborted || partition.owns(runsIn)) return own.run(call, { signal, onProgress });
      try {
        const request = { id: randomUUID(), call: plain(call) };
        return await requests.ask(groupOf(runsIn, groups), RUN, request, { signal, onProgress });
      } catch (error) {
        // The call was not begun, so its outcome is known.
        if (error instanceof CinnabarError && error.code === 'CINNABAR_CLUSTER_NOT_SERVED')
          return { outcome: thrownOutcome(call.id, tool.name, error, log) };
        log.warn('a process did not say how a call ended', { callId: call.id, tool: tool.name, error });
        return { outcome: failed(call.id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool: tool.name }) };
      }
    },
  };
}

/** The call without the parts of its tool that JSON cannot represent. */
function plain<T extends AskedCall>({ tool: { name, plugin, risk }, ...call }: T) {
  return { ...call, tool: { name, plugin, risk } };
}
