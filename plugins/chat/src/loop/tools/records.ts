import type { Ledger, RecordedUse, ToolHistory } from '@cinnabar/sdk';
import type { ToolRecord } from '../../context/types.js';
import { compareIds } from '../../history/snowflake.js';
import type { HistoryWindow } from '../../history/types.js';
import { type CallStore, outcomeOf, recallCalls } from './held-calls.js';

export interface RecordParts {
  readonly ledger: Ledger;
  readonly toolHistory: ToolHistory | undefined;
  readonly calls: CallStore;
}

/**
 * The calls that were made within a window, oldest first, with how they stand now: those that were held from the ledger, others as they
 * were kept. What is older than the window is let go. Only calls of tools that the asking member may use are told of.
 */
export async function recordsOf(
  { ledger, toolHistory, calls }: RecordParts,
  channelId: string,
  { messages, whole }: HistoryWindow,
  offered: ReadonlySet<string>,
): Promise<readonly ToolRecord[]> {
  const oldest = messages[0]?.id;
  if (oldest === undefined || offered.size === 0) return [];
  const isPast = ({ afterId }: { readonly afterId: string }) => !whole && compareIds(afterId, oldest) < 0;
  const held = await Promise.all(
    (await recallCalls(calls, channelId, isPast)).map(async (call): Promise<ToolRecord> => {
      const { text, isError } = outcomeOf(await ledger.get(call.callId));
      const { callId, tool: name, input, afterId: afterMessageId, step } = call;
      return { callId, name, input, afterMessageId, step, result: text, isError };
    }),
  );
  const known = new Set(held.map(({ callId }) => callId));
  const kept = (await toolHistory?.recent(channelId, whole ? undefined : oldest)) ?? [];
  const others = kept.filter(({ call }) => !known.has(call.id)).map(recordOf);
  return [...held, ...others]
    .filter(({ name }) => offered.has(name))
    .sort((a, b) => compareIds(a.afterMessageId, b.afterMessageId));
}

function recordOf({ call, result }: RecordedUse): ToolRecord {
  const { id: callId, name, input, messageId: afterMessageId } = call;
  const { output, error } = result;
  const told = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  return { callId, name, input, afterMessageId, result: error ?? told, isError: error !== undefined };
}
