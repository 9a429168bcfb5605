import { readToken } from '../parser/token.js';
import type { CommandEntry, Entry, GroupEntry } from '../registry/entry.js';

/** Where the words of a message lead: to a command, or no further than a group. */
export type Descent =
  | { readonly command: CommandEntry; readonly end: number }
  | { readonly group: GroupEntry /** The word that leads nowhere. */; readonly stray: string | undefined };

/** Follows the words after a group's name to one of its commands. */
export function descend(entry: Entry, source: string, end: number): Descent {
  if (entry.kind === 'command') return { command: entry, end };
  const word = readToken(source, end);
  const child = word === undefined || word.quoted ? undefined : entry.byName.get(word.text.toLowerCase());
  if (word === undefined || child === undefined || child.surface === 'slash') {
    return { group: entry, stray: word?.text };
  }
  return descend(child, source, word.end);
}
