import { isStanding, type MemoryIndex } from './memory-index.js';
import {
  commonAudience,
  type Insight,
  isMember,
  isVisible,
  type Memory,
  type Place,
  type ReflectionState,
} from './types.js';
import { compose, evidenceOf, inRange, tidy } from './updates.js';

/** Importance that has to add up before it is worth reflecting. */
const DUE = 150;
const MOST_EVIDENCE = 100;
const INSIGHT_IMPORTANCE = 7;

/** The facts since the last reflection that may be known in the place. */
export function reflectionState(index: MemoryIndex, place: Place): ReflectionState {
  const fresh = freshAt(index, place);
  const sum = fresh.reduce((total, { importance }) => total + importance, 0);
  return { due: sum >= DUE, sum, evidence: fresh.slice(-MOST_EVIDENCE) };
}

export function freshAt(index: MemoryIndex, place: Place): readonly Memory[] {
  return index.pending().filter((memory) => isStanding(memory) && isVisible(memory, place));
}

interface Reflecting {
  readonly index: MemoryIndex;
  readonly place: Place;
  readonly insight: Insight;
  /** Whose reflection it is: the bot's user id, or the mind where that is not known. */
  readonly speaker: string;
  readonly id: string;
  readonly now: number;
}

/** A reflection as a memory; `undefined` without evidence. Its audience may know all of its evidence. */
export function reflectionOf({ index, place, insight, speaker, id, now }: Reflecting): Memory | undefined {
  const evidence = insight.evidence
    .flatMap((each) => index.get(each) ?? [])
    .filter((memory) => memory.setAsideAt === null && isVisible(memory, place));
  const audience = commonAudience(evidence);
  const text = tidy(insight.text, 2_000);
  if (audience === undefined || text === '') return undefined;
  const subjects = new Set(evidence.map(({ subject }) => subject));
  const [only] = subjects;
  const subject = insight.subject ?? (subjects.size === 1 && only !== undefined ? only : place.mind);
  const importance = inRange(insight.importance ?? INSIGHT_IMPORTANCE);
  const { visibility } = audience;
  const name = evidence.find((memory) => memory.subject === subject)?.subjectName ?? undefined;
  const composed = compose(
    { place, text, speaker, subject, subjectName: name, importance, visibility },
    index,
    id,
    now,
  );
  return {
    ...composed,
    kind: 'reflection',
    channelId: audience.channelId,
    evidence: evidence.flatMap(evidenceOf).filter(({ people }) => people.every(isMember)),
  };
}
