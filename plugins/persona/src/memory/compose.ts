import { isMember } from './plan/merge.js';
import { visibilityAt } from './table/audience.js';
import type { Table } from './table/table.js';
import { attributeOf } from './text/attributes.js';
import { estimateImportance } from './text/importance.js';
import { createDirectory, joined } from './text/names.js';
import { subjectOf } from './text/subject.js';
import type { Memory, NewMemory } from './types.js';

const MAX_TEXT = 2_000;
const MAX_LABEL = 100;

/** Fills in what a new memory leaves open, from its text. Links to others are for the plan to make. */
export function compose(given: NewMemory, table: Table, id: string, now: number): Memory {
  const { place, speaker } = given;
  const text = tidy(given.text, MAX_TEXT);
  const subject = tidy(given.subject ?? guessSubject(given, table), MAX_LABEL);
  const subjectName = given.subjectName ?? (subject === speaker ? given.speakerName : undefined);
  const at = given.at ?? now;
  return {
    id,
    kind: 'fact',
    text,
    subject: isMember(subject) ? subject : subject.toLowerCase(),
    subjectName: isMember(subject) && subjectName !== undefined ? tidy(subjectName, MAX_LABEL) : null,
    speaker,
    speakerName: given.speakerName === undefined ? null : tidy(given.speakerName, MAX_LABEL),
    messageId: given.messageId ?? null,
    channelId: place.channelId,
    guildId: place.guildId,
    at,
    importance: inRange(given.importance ?? estimateImportance(text)),
    visibility: visibilityAt(place, given.visibility),
    attribute: given.attribute === undefined ? attributeOf(text) : tidyAttribute(given.attribute),
    supersededBy: null,
    duplicateOf: null,
    evidence: [],
    lastAccess: at,
    setAsideAt: null,
  };
}

function guessSubject({ text, speaker, speakerName, people = [] }: NewMemory, table: Table): string {
  const own = createDirectory();
  for (const person of people) own.add(person);
  if (speakerName !== undefined) own.add({ userId: speaker, names: [speakerName] });
  return subjectOf(text, speaker, joined(table.names, own));
}

const tidyAttribute = (attribute: string | null) => {
  const tidied = attribute === null ? '' : tidy(attribute, MAX_LABEL).toLowerCase();
  return tidied === '' ? null : tidied;
};

export const tidy = (text: string, length: number): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, length);

/** Whole, 1-10; 3 for what is no number. */
export function inRange(importance: number): number {
  return Number.isFinite(importance) ? Math.min(10, Math.max(1, Math.round(importance))) : 3;
}
