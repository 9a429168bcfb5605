import type { CinnabarError } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { CommandRoomParts } from '../parts.js';
import type { Registry } from '../registry/registry.js';
import { coalesced } from './coalesce.js';
import { commandDifferences } from './differences/commands.js';
import { fitCommands } from './fit.js';
import { normalise } from './normal.js';
import { fetchCommands, overwriteCommands } from './remote.js';
import type { SlashScope } from './scope.js';

/** Guilds that are brought in line at once: Discord's rate limits make more of them pointless. */
const CONCURRENCY = 3;

type Parts = Pick<CommandRoomParts, 'client' | 'enabledIn' | 'log'>;

/** Keeps Discord's lists of slash commands the same as the registry. Nothing is sent that Discord knows already, or while not logged in. */
export function createSlashSync({ client, enabledIn, log }: Parts, registry: Registry) {
  const warned = new LRUCache<string, true>({ max: 100 });

  const warnOnce = (error: CinnabarError) => {
    if (warned.has(error.message)) return;
    warned.set(error.message, true);
    log.warn(error.message, { code: error.code });
  };

  const bringInLine = async (guildId: string | null) => {
    if (!client.isReady()) return;
    const scope: SlashScope = guildId === null ? 'dm' : 'guild';
    const enabled = registry.roots().filter((root) => enabledIn(guildId, root.owner.plugin));
    const { payloads, overflow } = fitCommands(enabled, scope);
    overflow.forEach(warnOnce);
    const { chatInput, others } = await fetchCommands(client, guildId);
    const changes = [
      ...commandDifferences(
        chatInput.map((command) => normalise(command, scope)),
        payloads.map((command) => normalise(command, scope)),
      ),
    ];
    if (changes.length === 0) return;
    await overwriteCommands(client, guildId, payloads, others);
    log.info('slash commands updated', { guildId, changes });
  };

  const sync = coalesced<string | null>(async (guildId) => {
    try {
      await bringInLine(guildId);
    } catch (error) {
      log.warn('slash commands could not be updated', { guildId, error });
    }
  }, CONCURRENCY);

  return {
    sync,
    async syncAll(): Promise<void> {
      await Promise.all([null, ...client.guilds.cache.keys()].map(sync));
    },
  };
}
