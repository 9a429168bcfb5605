import { type Prefixes, UserError } from '@cinnabar/sdk';
import type { GuildStates } from '../contracts.js';

const LONGEST_PREFIX = 10;
const MOST_PREFIXES = 10;

/**
 * Prefixes by guild, over the guild states.
 * @param own those of the defaults that no other bot of the installation shares
 */
export function createPrefixes(
  states: GuildStates,
  defaults: readonly string[],
  own: readonly string[] = [],
): Prefixes {
  const get = (guildId: string | null) => (guildId === null ? defaults : (states.peek(guildId)?.prefixes ?? defaults));
  const save = async (guildId: string, prefixes: readonly string[] | undefined) => {
    await states.update(guildId, (draft) => ({ ...draft, prefixes }));
    return get(guildId);
  };
  return {
    get,
    namesBot: (prefix) => prefix.startsWith('<@') || own.includes(prefix),
    async add(guildId, prefix) {
      const current = get(guildId);
      if (prefix.trim() === '' || prefix.length > LONGEST_PREFIX || /\s/.test(prefix)) {
        throw new UserError(`A prefix is 1 to ${LONGEST_PREFIX} characters without spaces.`);
      }
      if (prefix.startsWith('/') || prefix.startsWith('<@')) {
        throw new UserError('A prefix cannot start with / or be a mention: Discord uses those itself.');
      }
      if (current.includes(prefix)) throw new UserError(`${prefix} is a prefix here already.`);
      if (current.length >= MOST_PREFIXES) throw new UserError(`There can be at most ${MOST_PREFIXES} prefixes.`);
      return save(guildId, [...current, prefix]);
    },
    async remove(guildId, prefix) {
      const current = get(guildId);
      if (!current.includes(prefix)) throw new UserError(`${prefix} is not a prefix here.`);
      return save(
        guildId,
        current.filter((other) => other !== prefix),
      );
    },
    reset: (guildId) => save(guildId, undefined),
  };
}
