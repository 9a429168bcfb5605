import {
  type Actor,
  type Collection,
  compareIds,
  FOR_REQUESTER_ALONE,
  type LedgerEntry,
  type RecordedUse,
  z,
} from '@cinnabar/sdk';
import type { ToolRecord } from '../context/types.js';
import type { HistoryWindow } from '../history/types.js';
import type { ChatServices } from '../plugin-context.js';

/**
 * The calls within a window, oldest first, with their current state: deferred calls from the ledger, others as stored. Deferred calls that are older than the
 * window are deleted. Contains only calls of tools that every requester may use, and only results that all of them may read now.
 */
export async function recordsOf(
  { ledger, provenance, toolHistory, collections: { calls } }: ChatServices,
  channelId: string,
  { messages, whole }: HistoryWindow,
  offered: ReadonlySet<string>,
  asking: readonly Actor[],
): Promise<readonly ToolRecord[]> {
  const oldest = messages[0]?.id;
  if (oldest === undefined || offered.size === 0) return [];
  const isPast = ({ afterId }: { readonly afterId: string }) => !whole && compareIds(afterId, oldest) < 0;
  const maySee = (sources: LedgerEntry['sources']) => provenance.mayShow(sources, asking);
  const recalled = await recallCalls(calls, channelId, isPast);
  const held = await Promise.all(
    recalled.map(async (call): Promise<readonly ToolRecord[]> => {
      const row = await ledger.get(call.callId);
      if (row?.state === 'done' && !(await maySee(row.sources))) return [];
      const { text, isError } = outcomeOf(row);
      const { callId, tool: name, input, afterId: afterMessageId, step } = call;
      return [{ callId, name, input, afterMessageId, step, result: text, isError }];
    }),
  );
  const known = new Set(recalled.map(({ callId }) => callId));
  const kept = (await toolHistory?.recent(channelId, whole ? undefined : oldest)) ?? [];
  const others = await Promise.all(
    kept.map(async (use): Promise<readonly ToolRecord[]> => {
      if (known.has(use.call.id) || !offered.has(use.call.name)) return [];
      return isFree(use) || (await maySee(use.result.sources)) ? [recordOf(use)] : [];
    }),
  );
  return [...held, ...others]
    .flat()
    .filter(({ name }) => offered.has(name))
    .sort((a, b) => compareIds(a.afterMessageId, b.afterMessageId));
}

/** Whether a result needs no check of its readers: a call that was not executed has read nothing, and imported calls were made public in the channel. */
function isFree({ call, result }: RecordedUse): boolean {
  return result.error !== undefined || call.userId === undefined;
}

function recordOf({ call, result }: RecordedUse): ToolRecord {
  const { id: callId, name, input, messageId: afterMessageId } = call;
  const { output, error, audience } = result;
  if (audience === 'requester')
    return { callId, name, input, afterMessageId, result: FOR_REQUESTER_ALONE, isError: false };
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  return { callId, name, input, afterMessageId, result: error ?? text, isError: error !== undefined };
}

const call = z.object({
  callId: z.string(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The member who requested it. */
  userId: z.string(),
  /** The message after which it was made, for its place in the history. */
  afterId: z.string(),
  /** The same for the calls of one step. */
  step: z.string(),
});
type HeldCall = z.output<typeof call>;

const MAX_CALLS = 100;

/** Calls that were deferred: later turns show their outcomes to the model. */
export const heldCalls = {
  scope: 'channel',
  version: 1,
  schema: z.object({ calls: z.array(call).default([]) }),
  personal: { each: 'calls', by: 'userId' },
} as const;
type CallStore = Collection<{ calls: HeldCall[] }, 'channel'>;

export async function rememberCall(store: CallStore, channelId: string, held: HeldCall): Promise<void> {
  await store.of(channelId).update((draft) => {
    draft.calls = [...draft.calls, held].slice(-MAX_CALLS);
  });
}

/** The channel's deferred calls. Those for which `isPast` is true are deleted. */
async function recallCalls(
  store: CallStore,
  channelId: string,
  isPast: (held: HeldCall) => boolean,
): Promise<readonly HeldCall[]> {
  const { calls } = (await store.of(channelId).find()) ?? { calls: [] };
  if (!calls.some(isPast)) return calls;
  const kept = await store.of(channelId).update((draft) => {
    draft.calls = draft.calls.filter((held) => !isPast(held));
  });
  return kept.calls;
}

/** The result of a deferred call as the model reads it. */
function outcomeOf(entry: LedgerEntry | undefined): { readonly text: string; readonly isError: boolean } {
  const because = entry?.reason === undefined ? '' : ` (${entry.reason})`;
  switch (entry?.state) {
    case 'proposed':
    case 'pending':
      return result(
        'Not run yet: it still waits for the confirmation of the member who asked. Do not say that it has run.',
      );
    case 'approved':
    case 'executing':
      return result('Confirmed, and running now: there is no result yet.');
    case 'done':
      return result(entry.audience === 'requester' ? FOR_REQUESTER_ALONE : `done: ${entry.text ?? 'it ran'}`);
    case 'denied':
      return result(`Cancelled by the member: it did not run${because}.`, true);
    case 'expired':
      return result(`It did not run${because}.`, true);
    case 'failed':
      return result(`Confirmed, but it failed${because}.`, true);
    default:
      return result('It is not known whether it ran. Say so if it matters; do not claim either.', true);
  }
}

function result(text: string, isError = false) {
  return { text, isError };
}
