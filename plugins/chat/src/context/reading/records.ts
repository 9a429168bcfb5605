import type { ParticipantMessage, ToolResultContent, ToolUseContent } from '@cinnabar/sdk';
import type { ToolRecord } from '../types.js';
import { type Entry, isLater } from './entries.js';

/** A very long result would push the conversation out. */
const MAX_RESULT_CHARACTERS = 20_000;

/**
 * Calls by the index of the entry that they follow. Calls after messages that are not seen (hidden, deleted) follow the last one before
 * them that is; those from before the first entry are left out, each with its result.
 */
export function placeRecords(
  records: readonly ToolRecord[],
  entries: readonly Entry[],
): ReadonlyMap<number, readonly ToolRecord[]> {
  const placed = new Map<number, ToolRecord[]>();
  if (records.length === 0) return placed;
  const indexOf = new Map<string, number>();
  for (const [index, { messages }] of entries.entries()) for (const { id } of messages) indexOf.set(id, index);
  for (const record of records) {
    const after = record.afterMessageId;
    const index = indexOf.get(after) ?? entries.findLastIndex(({ messages }) => !isLater(messages[0].id, after));
    if (index < 0) continue;
    const there = placed.get(index);
    if (there === undefined) placed.set(index, [record]);
    else there.push(record);
  }
  return placed;
}

/** The calls of each step in one message, their results in the next. */
export function callsAndResults(records: readonly ToolRecord[], participant: string): readonly ParticipantMessage[] {
  const steps = new Map<string, ToolRecord[]>();
  for (const record of records) {
    const key = record.step ?? record.callId;
    const step = steps.get(key);
    if (step === undefined) steps.set(key, [record]);
    else step.push(record);
  }
  return [...steps.values()].flatMap((step) => [
    { participant, content: step.map(toUse) },
    { participant, content: step.map(toResult) },
  ]);
}

function toUse({ callId, name, input }: ToolRecord): ToolUseContent {
  return { type: 'tool_use', id: callId, name, input };
}

function toResult({ callId, result, isError }: ToolRecord): ToolResultContent {
  const content =
    result.length <= MAX_RESULT_CHARACTERS
      ? result
      : `${result.slice(0, MAX_RESULT_CHARACTERS)}\n[… ${result.length - MAX_RESULT_CHARACTERS} more characters]`;
  return { type: 'tool_result', toolUseId: callId, content, ...(isError ? { isError: true } : {}) };
}
