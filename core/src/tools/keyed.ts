import { CinnabarError, type LedgerEntry, type Outcome, type SettledOutcome, type ToolRequest } from '@cinnabar/sdk';
import { readArguments } from './arguments.js';
import type { CallLedger } from './ledger/ledger.js';
import { failed, failedWith } from './outcomes.js';
import type { ToolRegistry } from './registry.js';

interface Parts {
  readonly ledger: Pick<CallLedger, 'byKey'>;
  readonly registry: ToolRegistry;
}

/** The name under which one attempt of a call is kept. */
export const keyOf = ({ key, attempt = 1 }: ToolRequest): string | undefined =>
  key === undefined ? undefined : `${key}#${attempt}`;

/**
 * Calls that have a key are made once: whoever asks again gets what became of the first one, from memory while it is under way and
 * from the ledger afterwards.
 */
export function createKeyed({ ledger, registry }: Parts) {
  const underWay = new Map<string, { readonly request: ToolRequest; readonly outcome: Promise<Outcome> }>();

  const fits = (row: Pick<LedgerEntry, 'tool' | 'argumentsHash' | 'actor'>, request: ToolRequest) => {
    if (row.tool !== request.name || row.actor.userId !== request.actor.userId) return false;
    // A tool that is gone cannot read its arguments any more; what its call came to still counts.
    const definition = registry.get(request.name)?.definition;
    if (definition === undefined) return true;
    const read = readArguments(definition.input, request.arguments);
    return read.ok && read.hash === row.argumentsHash;
  };

  const earlier = async (key: string, request: ToolRequest): Promise<Outcome | undefined> => {
    const row = await ledger.byKey(key);
    if (row === undefined) return (request.attempt ?? 1) > 1 ? refusalOfAttempt(request) : undefined;
    return fits(row, request) ? outcomeOf(row) : belongsToAnother(request);
  };

  /** A further attempt may be made only where the one before cannot have had an effect, or may have it twice. */
  async function refusalOfAttempt(request: ToolRequest): Promise<SettledOutcome | undefined> {
    const before = await ledger.byKey(keyOf({ ...request, attempt: (request.attempt ?? 1) - 1 }) ?? '');
    if (before === undefined) return refused(request, 'there is no attempt before this one');
    if (!fits(before, request)) return belongsToAnother(request);
    const notRun = before.state === 'expired' || before.state === 'denied';
    const repeatable = before.state === 'unknown' && registry.get(request.name)?.info.idempotent === true;
    return notRun || repeatable ? undefined : refused(request, `the attempt before this one is ${before.state}`);
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

  return function once(request: ToolRequest, invoke: () => Promise<Outcome>): Promise<Outcome> {
    const key = keyOf(request);
    if (key === undefined) return invoke();
    const same = underWay.get(key);
    if (same !== undefined) {
      return isSameRequest(same.request, request) ? same.outcome : Promise.resolve(belongsToAnother(request));
    }
    const outcome = answer(key, request, invoke);
    underWay.set(key, { request, outcome });
    return outcome;
  };
}

function outcomeOf({ id, tool, state, reason = '', text = '' }: LedgerEntry): SettledOutcome {
  switch (state) {
    case 'done':
      return { status: 'done', callId: id, output: text, text };
    case 'failed':
      return failedWith(id, { code: 'CINNABAR_TOOL_FAILED', message: reason });
    case 'denied':
    case 'expired':
      return { status: state, callId: id, reason };
    case 'unknown':
      return failed(id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool });
    default:
      // Under way, yet not in this process's memory: another one has it.
      return failed(id, 'CINNABAR_TOOL_STATE', { call: id, state });
  }
}

const refused = ({ name }: ToolRequest, detail: string): SettledOutcome =>
  failedWith('', new CinnabarError('CINNABAR_TOOL_KEY', { tool: name, detail }));

const belongsToAnother = (request: ToolRequest) => refused(request, 'it belongs to another call');

const isSameRequest = (a: ToolRequest, b: ToolRequest) =>
  a.name === b.name && a.actor.userId === b.actor.userId && JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
