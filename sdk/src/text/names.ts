import { isConfusable, likenessOf } from './confusables.js';

/** Someone who takes part in a conversation. */
export interface Named {
  readonly id: string;
  /** The name shown in the channel: chosen by its owner, so never to be trusted. */
  readonly displayName: string;
  /** Unique on Discord; tells people of one display name apart. */
  readonly username: string;
}

const MAX_NAME = 40;
/** Control, format and private-use characters, surrogates on their own, line and paragraph separators. */
export const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/gu;
/** What gives a transcript its structure. */
const STRUCTURE = /[:：﹕︓꞉ː<>[\]{}|`\\"]+/gu;

/**
 * A display name that cannot pass for structure: one line, no colons, brackets or invisible characters, at most 40 characters.
 * Empty when nothing readable is left.
 */
export function sanitizeName(name: string): string {
  const plain = name.normalize('NFKC').replace(INVISIBLE, '').replace(STRUCTURE, ' ').replace(/\s+/gu, ' ').trim();
  return [...plain].slice(0, MAX_NAME).join('').trim();
}

/**
 * Names for the participants of a conversation, by id: readable, different from one another, and never one of `reserved`
 * (the bot's own name, `System`), whatever people call themselves. Those of one name each get their username beside it,
 * so that none of them passes for the original. A name that can pass for another one, by letters of several scripts, has its id beside it.
 */
export function participantNames(people: Iterable<Named>, reserved: readonly string[]): ReadonlyMap<string, string> {
  const byId = new Map<string, Named>();
  for (const person of people) byId.set(person.id, person);
  const taken = new Set(reserved.map(likenessOf));
  const sharing = new Map<string, number>();
  for (const person of byId.values()) {
    const key = likenessOf(plainName(person));
    sharing.set(key, (sharing.get(key) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const claim = (id: string, name: string): boolean => {
    if (taken.has(likenessOf(name))) return false;
    taken.add(likenessOf(name));
    names.set(id, name);
    return true;
  };
  const shared: Named[] = [];
  for (const person of byId.values()) {
    const name = plainName(person);
    if (isConfusable(name) || sharing.get(likenessOf(name)) !== 1 || !claim(person.id, name)) shared.push(person);
  }
  for (const person of shared) {
    const name = plainName(person);
    if (isConfusable(name)) claim(person.id, `${name} (${person.id})`);
    else if (!claim(person.id, `${name} (${sanitizeName(person.username)})`))
      claim(person.id, `${name} (${person.id})`);
  }
  return names;
}

function plainName(person: Named): string {
  return sanitizeName(person.displayName) || sanitizeName(person.username) || `member ${person.id}`;
}
