import { likenessOf } from '@cinnabar/sdk';

const MAX_LENGTH = 64;
const RESERVED = ['system', 'assistant', 'user', 'human', 'developer', 'tool', 'function'];

/**
 * Gives each participant the name under which the model sees it: one line, without a colon, unique in the request, and never
 * the model's own name or a role's. Names that need no change keep theirs, so nobody can take another's by hiding characters in it.
 */
export function labelParticipants(participants: Iterable<string>, self: string): ReadonlyMap<string, string> {
  const names = [...new Set(participants)].map((participant) => ({ participant, clean: cleanName(participant) }));
  const asTheyAre = names.filter(({ participant, clean }) => participant === clean);
  const changed = names.filter(({ participant, clean }) => participant !== clean);
  const forbidden = new Set([...RESERVED, self].map(likenessOf));
  const taken = new Set<string>();
  const labels = new Map<string, string>();
  for (const { participant, clean } of [...asTheyAre, ...changed]) {
    const label = firstFree(clean, (candidate) => taken.has(candidate) || forbidden.has(likenessOf(candidate)));
    taken.add(label);
    labels.set(participant, label);
  }
  return labels;
}

function firstFree(name: string, isTaken: (candidate: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? `${name} (member)` : `${name} (member ${number})`;
    if (!isTaken(candidate)) return candidate;
  }
}

/** One line without a colon, and nothing in it that could be taken for the `>[` of a written call. Joiners stay where emoji need them. */
export function cleanName(participant: string): string {
  const visible = participant
    .replace(/(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\p{M}?)\u200d/gu, '')
    .replace(/[^\P{C}\u200d]|[\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/[:：︓﹕]|[<>＜＞]\s*[[［]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...visible].slice(0, MAX_LENGTH).join('').trim() || 'someone';
}
