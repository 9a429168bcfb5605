import { CinnabarError } from '@cinnabar/sdk';
import type { Owner } from '../../contracts.js';
import type { Entry } from './entry.js';

/**
 * The commands of a group by name and alias.
 * @throws CINNABAR_NAME_TAKEN when two of them share one
 */
export function childrenByName(owner: Owner, group: string, children: readonly Entry[]): ReadonlyMap<string, Entry> {
  const byName = new Map<string, Entry>();
  for (const child of children) {
    for (const key of [child.key, ...child.aliases]) {
      if (byName.has(key)) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', {
          kind: 'command',
          name: `${group} ${key}`,
          plugin: owner.id,
        });
      }
      byName.set(key, child);
    }
  }
  return byName;
}
