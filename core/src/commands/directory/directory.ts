import type { Commands } from '@cinnabar/sdk';
import type { CommandRoomParts } from '../parts.js';
import type { Registry } from '../registry/registry.js';
import { nearest } from './nearest.js';
import { visibleAmong } from './visible.js';

type Parts = Pick<CommandRoomParts, 'access' | 'enabledIn'>;

/** What others may know of the registered commands: help and `ai` read it. */
export function createDirectory(
  { access, enabledIn }: Parts,
  registry: Registry,
): Pick<Commands, 'visibleTo' | 'similar'> {
  return {
    async visibleTo(actor) {
      const enabled = registry.leaves().filter((leaf) => enabledIn(actor.guildId, leaf.owner.plugin));
      const { visible } = await visibleAmong(access, actor, enabled);
      return visible.map((leaf) => leaf.info).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    similar: (name, among) =>
      nearest(
        name,
        among.map((info) => info.name),
      ),
  };
}
