import { CinnabarError, type Disposer } from '@cinnabar/sdk';
import { type CommandEntry, type Entry, leavesOf } from './entry.js';

/** Every registered command and group. */
export interface Registry {
  /** @throws CINNABAR_NAME_TAKEN, CINNABAR_SCOPE_CLOSED */
  add(entry: Entry): Disposer;
  /** By name or alias. */
  find(name: string): Entry | undefined;
  /** Names and aliases in use. */
  names(): Iterable<string>;
  /** Commands and groups at the top, in the order of registration: the same array as long as none comes or goes. */
  roots(): readonly Entry[];
  leaves(): readonly CommandEntry[];
}

/** Builds an empty registry. Each entry is an effect of its owner's scope, and leaves with it. */
export function createRegistry(): Registry {
  const byName = new Map<string, Entry>();
  const roots = new Set<Entry>();
  let listed: readonly Entry[] | undefined;

  const remove = (entry: Entry) => {
    if (!roots.delete(entry)) return;
    listed = undefined;
    for (const key of keysOf(entry)) byName.delete(key);
  };

  return {
    add(entry) {
      const taken = keysOf(entry).find((key) => byName.has(key));
      const holder = taken === undefined ? undefined : byName.get(taken);
      if (taken !== undefined && holder !== undefined) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'command', name: taken, plugin: holder.owner.id });
      }
      const dispose = entry.owner.scope.add(`${entry.kind} ${entry.name}`, () => remove(entry));
      roots.add(entry);
      listed = undefined;
      for (const key of keysOf(entry)) byName.set(key, entry);
      return dispose;
    },
    find: (name) => byName.get(name),
    names: () => byName.keys(),
    roots() {
      listed ??= [...roots];
      return listed;
    },
    leaves: () => [...roots].flatMap(leavesOf),
  };
}

function keysOf(entry: Entry): readonly string[] {
  return [...new Set([entry.key, ...entry.aliases])];
}
