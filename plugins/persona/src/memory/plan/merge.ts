import { commonAudience } from '../table/audience.js';
import { isLater } from '../table/order.js';
import type { Evidence, Memory } from '../types.js';
import type { Plan } from './add.js';

/** One memory out of several, resting on them: without any of them it does not stand. `undefined` when no audience may be told all of them. */
export function mergeOf(memory: Memory, others: readonly Memory[], text: string, id: string): Plan | undefined {
  const parts = [...others, memory];
  const audience = commonAudience(parts);
  if (others.length === 0 || audience === undefined || text.trim() === '') return undefined;
  const merged: Memory = {
    ...memory,
    id,
    text,
    messageId: null,
    visibility: audience.visibility,
    channelId: audience.channelId,
    // What it is made of comes before it.
    at: Math.max(...parts.map(({ at }) => at)) + 1,
    importance: Math.max(...parts.map(({ importance }) => importance)),
    evidence: parts.flatMap(evidenceOf),
  };
  const put = parts.map((part) => ({ ...part, supersededBy: isLater(merged, part) ? id : null }));
  return { outcome: 'merged', put: [merged, ...put], drop: [], memory: merged, replaced: others };
}

/** What rests on a memory rests on what that rests on, too: a message that is deleted takes all of it along. */
export function evidenceOf(memory: Memory): readonly Evidence[] {
  const { id, messageId, channelId, speaker, subject, evidence } = memory;
  const people = [...new Set([speaker, subject])].filter(isMember);
  return [{ id, messageId, channelId, people }, ...evidence];
}

export const isMember = (subject: string): boolean => /^\d{1,20}$/.test(subject);
