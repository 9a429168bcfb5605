import { edited, type Held, reacted, unreacted } from './held-message.js';

/** Something that happened to a message. */
export type Change =
  | { readonly kind: 'created'; readonly id: string; readonly held: Held }
  | { readonly kind: 'updated'; readonly id: string; readonly held: Held }
  | { readonly kind: 'deleted'; readonly id: string }
  | {
      readonly kind: 'reaction';
      readonly id: string;
      readonly key: string;
      readonly name: string;
      readonly by: 1 | -1;
      readonly mine: boolean;
    }
  | { readonly kind: 'unreacted'; readonly id: string; readonly key?: string };

/**
 * What happened while a page was on its way. Nobody knows whether the page was cut before or after an event, but events are complete and in
 * order: what one says in full (a new message, an edit, a deletion) holds against the page, since whatever came after it is announced too.
 */
export interface ChangeBuffer {
  note(change: Change): void;
  /** The page's messages as they are now, and those that were said meanwhile. */
  apply(page: readonly Held[]): readonly Held[];
  /** Whether reactions changed that the page may or may not have counted: then it has to be fetched again. */
  contradicts(page: readonly Held[]): boolean;
}

export function createChangeBuffer(): ChangeBuffer {
  const created = new Map<string, Held>();
  const updated = new Map<string, Held>();
  const deleted = new Set<string>();
  const uncertain = new Set<string>();

  const onCreated = (id: string, change: (held: Held) => Held): boolean => {
    const held = created.get(id);
    if (held !== undefined) created.set(id, change(held));
    return held !== undefined;
  };

  return {
    note(change) {
      const { id } = change;
      if (change.kind === 'created') created.set(id, change.held);
      else if (change.kind === 'deleted') {
        created.delete(id);
        deleted.add(id);
      } else if (change.kind === 'updated') {
        if (!onCreated(id, (held) => edited(held, change.held))) updated.set(id, change.held);
      } else if (!onCreated(id, (held) => applyReaction(held, change))) uncertain.add(id);
    },
    apply(page) {
      const kept = page.flatMap((held) => {
        const { id } = held.message;
        if (deleted.has(id) || created.has(id)) return [];
        const edit = updated.get(id);
        return [edit === undefined ? held : edited(held, edit)];
      });
      return [...kept, ...created.values()];
    },
    contradicts: (page) => page.some(({ message }) => uncertain.has(message.id) && !deleted.has(message.id)),
  };
}

type ReactionChange = Extract<Change, { kind: 'reaction' | 'unreacted' }>;

export function applyReaction(held: Held, change: ReactionChange): Held {
  if (change.kind === 'unreacted') return unreacted(held, change.key);
  return reacted(held, change.key, change.name, change.by, change.mine);
}
