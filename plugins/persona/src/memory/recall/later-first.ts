import { isLater } from '../table/order.js';
import type { Table } from '../table/table.js';
import { isQuestion } from '../text/attributes.js';
import { topicsOf } from '../text/topics.js';
import type { Memory, Recalled } from '../types.js';

/** The share of words that two have in common when they are one sentence with another word in it. */
const ONE_SENTENCE = 0.5;

/** How close the later one has to come: further behind, it rather is about something else. */
const CLOSE = 0.75;

/**
 * Of what one person says of one and the same matter, and what fits about as well, the later comes before the earlier. It may be an addition or a correction: nothing tells the
 * two apart without understanding, so both stay; but whoever reads the first of them only should read what was said last.
 */
export function laterFirst(
  recalled: readonly Recalled[],
  asked: ReadonlySet<string>,
  table: Table,
): readonly Recalled[] {
  const ordered: Recalled[] = [];
  for (const one of recalled) {
    const at = ordered.findIndex(
      ({ memory, score }) =>
        isLater(one.memory, memory) && one.score >= CLOSE * score && isOfOneMatter(one.memory, memory, asked, table),
    );
    ordered.splice(at < 0 ? ordered.length : at, 0, one);
  }
  return ordered;
}

function isOfOneMatter(one: Memory, other: Memory, asked: ReadonlySet<string>, table: Table): boolean {
  if (one.subject !== other.subject || one.speaker !== other.speaker) return false;
  if (one.kind !== 'fact' || other.kind !== 'fact' || isQuestion(one.text)) return false;
  const [terms, others] = [table.gist(one).terms, table.gist(other).terms];
  const topics = new Set(topicsOf(others));
  if (topicsOf(terms).some((topic) => topics.has(topic) && asked.has(topic))) return true;
  return likeness(terms, others) >= ONE_SENTENCE;
}

/** The share of words that two have in common. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const term of one) if (other.has(term)) common++;
  return common / Math.max(1, one.size + other.size - common);
}
