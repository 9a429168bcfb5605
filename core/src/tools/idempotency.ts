import {
  type Actor,
  CinnabarError,
  type LedgerEntry,
  type Outcome,
  type SettledOutcome,
  type ToolRequest,
} from '@cinnabar/sdk';
import { readArguments } from './arguments.js';
import type { CallLedger } from './ledger/ledger.js';
import { failed, failedWith, outcomeOf } from './outcomes.js';
import type { ToolRegistry } from './registry.js';

interface Parts {
  readonly ledger: Pick<CallLedger, 'byKey'>;
  readonly registry: ToolRegistry;
}

/** The name under which one attempt of a call is kept. */
export const idempotencyKeyOf = ({ key, attempt = 1 }: ToolRequest): string | undefined =>
  key === undefined ? undefined : `${key}#${attempt}`;

/**
 * Calls that have a key are made once: whoever asks again gets what became of the first one, from memory while it is under way and
 * from the ledger afterwards.
 */
export function createIdempotency({ ledger, registry }: Parts) {
  const underWay = new Map<string, { readonly request: ToolRequest; readonly outcome: Promise<Outcome> }>();

  const hashIn = async ({ name, arguments: given }: ToolRequest) => {
    const definition = registry.get(name)?.definition;
    // A tool that is gone cannot read its arguments any more.
    if (definition === undefined) return 'gone';
    const read = await readArguments(definition.input, given);
    return read.ok ? read.hash : undefined;
  };

  const fits = async (row: LedgerEntry, request: ToolRequest) => {
    if (row.tool !== request.name || !isSameAsker(row.actor, request.actor)) return false;
    const hash = await hashIn(request);
    return hash === row.argumentsHash || hash === 'gone';
  };

  const isSameRequest = async (one: ToolRequest, other: ToolRequest) =>
    one.name === other.name && isSameAsker(one.actor, other.actor) && (await hashIn(one)) === (await hashIn(other));

  const earlier = async (key: string, request: ToolRequest): Promise<Outcome | undefined> => {
    const known = await ledger.byKey(key);
    if (known === undefined) return (request.attempt ?? 1) > 1 ? refusalOfAttempt(request) : undefined;
    const { callId, row } = known;
    // What became of it is damaged or forgotten, which is no reason to make it again.
    if (row === undefined) return failed(callId, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool: request.name });
    return (await fits(row, request)) ? outcomeOf(row) : belongsToAnother(request);
  };

  /** A further attempt may be made only where the one before cannot have had an effect, or may have it twice. */
  async function refusalOfAttempt(request: ToolRequest): Promise<SettledOutcome | undefined> {
    const before = await ledger.byKey(idempotencyKeyOf({ ...request, attempt: (request.attempt ?? 1) - 1 }) ?? '');
    if (before === undefined) return refused(request, 'there is no attempt before this one');
    const { row } = before;
    if (row !== undefined && !(await fits(row, request))) return belongsToAnother(request);
    const { state } = row ?? { state: 'unknown' };
    const notRun = state === 'expired' || state === 'denied';
    const repeatable = state === 'unknown' && registry.get(request.name)?.info.idempotent === true;
    return notRun || repeatable ? undefined : refused(request, `the attempt before this one is ${state}`);
  }

  /** Whoever learns of the end and asks again is told by the ledger: so it is over here before anybody learns of it. */
  const answer = async (key: string, request: ToolRequest, invoke: () => Promise<Outcome>): Promise<Outcome> => {
    const over = () => underWay.delete(key);
    try {
      const known = (await earlier(key, request)) ?? (await invoke());
      if (known.status === 'deferred') void known.settled.finally(over);
      else over();
      return known;
    } catch (error) {
      over();
      throw error;
    }
  };

  return async function once(request: ToolRequest, invoke: () => Promise<Outcome>): Promise<Outcome> {
    const key = idempotencyKeyOf(request);
    if (key === undefined) return invoke();
    const { attempt = 1 } = request;
    if (!Number.isInteger(attempt) || attempt < 1) return refused(request, 'attempts are counted from 1');
    const same = underWay.get(key);
    if (same !== undefined) {
      return (await isSameRequest(same.request, request)) ? same.outcome : belongsToAnother(request);
    }
    const outcome = answer(key, request, invoke);
    underWay.set(key, { request, outcome });
    return outcome;
  };
}

const refused = ({ name }: ToolRequest, detail: string): SettledOutcome =>
  failedWith('', new CinnabarError('CINNABAR_TOOL_KEY', { tool: name, detail }));

const belongsToAnother = (request: ToolRequest) => refused(request, 'it belongs to another call');

/** An agent is who it is, whoever let it in where its call takes effect. */
function isSameAsker(one: Actor, other: Actor): boolean {
  if (one.identity !== other.identity) return false;
  return one.identity !== undefined || (one.userId === other.userId && one.guildId === other.guildId);
}
