import {
  type Actor,
  FOR_REQUESTER_ALONE,
  type Ledger,
  type LedgerEntry,
  type Provenance,
  type RecordedUse,
  type ToolHistory,
} from '@cinnabar/sdk';
import type { ToolRecord } from '../../context/types.js';
import { compareIds } from '../../history/snowflake.js';
import type { HistoryWindow } from '../../history/types.js';
import { type CallStore, outcomeOf, recallCalls } from './held-calls.js';

export interface RecordParts {
  readonly ledger: Ledger;
  readonly provenance: Pick<Provenance, 'mayShow'>;
  readonly toolHistory: ToolHistory | undefined;
  readonly calls: CallStore;
}

/**
 * The calls that were made within a window, oldest first, with how they stand now: those that were held from the ledger, others as they
 * were kept. What is older than the window is let go. Only calls of tools that all who ask may use are told of, and only results that all of them
 * may read now.
 */
export async function recordsOf(
  { ledger, provenance, toolHistory, calls }: RecordParts,
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

/** What did not run has read nothing; and what was imported was said in the channel. */
function isFree({ call, result }: RecordedUse): boolean {
  return result.error !== undefined || call.userId === undefined;
}

function recordOf({ call, result }: RecordedUse): ToolRecord {
  const { id: callId, name, input, messageId: afterMessageId } = call;
  const { output, error, audience } = result;
  if (audience === 'requester')
    return { callId, name, input, afterMessageId, result: FOR_REQUESTER_ALONE, isError: false };
  const told = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  return { callId, name, input, afterMessageId, result: error ?? told, isError: error !== undefined };
}
