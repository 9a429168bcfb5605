import { randomUUID } from 'node:crypto';
import { type Actor, CinnabarError, type Identities, type Logger, type Place, z } from '@cinnabar/sdk';
import { groupOf } from '../gateway/partition.js';
import type { LanguageService } from '../languages/languages.js';
import { failed, thrownOutcome } from '../tools/call.js';
import type { AskedCall, Considered, DueCall, Effects, Verdict } from '../tools/effects.js';
import type { AbortableRequests } from './abortable.js';
import type { Assignment, RequestKind } from './assignment.js';
import { objectWith } from './channel.js';

/** Deadline for everything but running a call. */
const DECIDED_MS = 15_000;

type Placed = Pick<AskedCall, 'tool' | 'input' | 'actor'>;
/** `null`: not in a server of that group. */
const PLACE: RequestKind<Placed, Place | null> = {
  name: 'effects.place',
  body: objectWith<Placed>('tool'),
  answer: objectWith<Place>('guildId').nullable(),
};
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

/** The identities' grants, which say into which servers an agent was let. */
export type Grants = Pick<Identities, 'get'>;

/**
 * The groups other than its own in which an actor may mean a place that is in no server of this group: an agent those of its grants, a member in a direct
 * message all. None for the direct message itself, and for a member in a server, who reaches no other one.
 */
async function groupsToSearch(
  { identity, guildId, channelId }: Actor,
  place: Place,
  { group: own, groups }: Assignment['partition'],
  identities: Grants,
): Promise<readonly number[]> {
  if (place.channelId === channelId || (identity === undefined && guildId !== null)) return [];
  const grants = identity === undefined ? undefined : ((await identities.get(identity))?.grants ?? []);
  if (grants?.some((grant) => grant.guildId === null && grant.channelId === place.channelId) === true) return [];
  const all = Array.from({ length: groups }, (_, group) => group);
  const reached = new Set(grants?.map((grant) => groupOf(grant.guildId, groups)) ?? all);
  return [...reached].filter((group) => group !== own);
}

/**
 * Effects in the servers of all groups: the host that serves the place decides about a call and runs it. The process of the caller keeps the call in the
 * ledger, and asks its member.
 */
export function shareEffects(
  own: Effects,
  { channel, partition }: Pick<Assignment, 'channel' | 'partition'>,
  {
    requests,
    identities,
    languages,
    log,
  }: {
    readonly requests: AbortableRequests;
    readonly identities: Grants;
    readonly languages: Pick<LanguageService, 'speak'>;
    readonly log: Logger;
  },
): Effects {
  const { groups } = partition;
  /** Cards, refusals and results are for the requester, wherever they are written; an external agent reads English. */
  const speaking = <T>({ actor }: { readonly actor: Actor }, task: () => Promise<T>): Promise<T> =>
    actor.identity === undefined ? languages.speak(actor, task) : task();

  channel.answer(PLACE, async (call) => {
    const place = await own.place(call);
    return place !== undefined && place.guildId !== null && partition.owns(place.guildId) ? place : null;
  });
  channel.answer(CONSIDER, async (call) => speaking(call, () => own.consider(call)));
  channel.answer(RECHECK, async (call) => speaking(call, () => own.recheck(call)));
  requests.answer(RUN, async ({ call }, signal, onProgress) =>
    speaking(call, () => own.run(call, { signal, onProgress })),
  );

  /** A member in a server reaches no other one, which is decided without asking. */
  const isHere = ({ actor, at }: AskedCall) =>
    at === undefined || partition.owns(at.guildId) || (actor.identity === undefined && actor.guildId !== null);
  const ask = <B extends AskedCall, T>(kind: RequestKind<B, T>, call: B) =>
    channel.ask(groupOf(call.at?.guildId ?? null, groups), kind, call, { deadlineMs: DECIDED_MS });

  return {
    async place(call) {
      const place = await own.place(call);
      if (place === undefined || place.guildId !== null) return place;
      // A place that is in no server of this group may be in one of another.
      const { tool, input, actor } = call;
      const { name, plugin, risk } = tool;
      const others = await groupsToSearch(actor, place, partition, identities);
      const asked = { tool: { name, plugin, risk }, input, actor };
      const answers = await Promise.allSettled(
        others.map((group) => channel.ask(group, PLACE, asked, { deadlineMs: DECIDED_MS })),
      );
      for (const answer of answers) if (answer.status === 'fulfilled' && answer.value !== null) return answer.value;
      for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
      return place;
    },
    consider: (call) => (isHere(call) ? own.consider(call) : ask(CONSIDER, plain(call))),
    recheck: (call) => (isHere(call) ? own.recheck(call) : ask(RECHECK, plain(call))),
    async run(call, { signal, onProgress }) {
      const { tool, runsIn } = call;
      // What was aborted already is refused without asking.
      if (signal.aborted || partition.owns(runsIn)) return own.run(call, { signal, onProgress });
      try {
        const request = { id: randomUUID(), call: plain(call) };
        return await requests.ask(groupOf(runsIn, groups), RUN, request, { signal, onProgress });
      } catch (error) {
        // It was not begun.
        if (error instanceof CinnabarError && error.code === 'CINNABAR_CLUSTER_NOT_SERVED')
          return { outcome: thrownOutcome(call.id, tool.name, error, log) };
        log.warn('a process did not say how a call ended', { callId: call.id, tool: tool.name, error });
        return { outcome: failed(call.id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool: tool.name }) };
      }
    },
  };
}

/** Without the parts of the tool that JSON cannot carry. */
function plain<T extends AskedCall>({ tool: { name, plugin, risk }, ...call }: T) {
  return { ...call, tool: { name, plugin, risk } };
}
