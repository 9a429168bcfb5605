import { type CinnabarError, isTransient } from '@cinnabar/sdk';
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
/** A list that could not be brought in line because Discord was away is tried again, each time later. */
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * 60_000;

type Parts = Pick<CommandRoomParts, 'client' | 'enabledIn' | 'clock' | 'log'>;

/** Keeps Discord's lists of slash commands the same as the registry. Nothing is sent that Discord knows already, or while not logged in. */
export function createSlashSync({ client, enabledIn, clock, log }: Parts, registry: Registry) {
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

  const retries = new Map<string | null, { pauseMs: number; cancel: () => void }>();
  const retryLater = (guildId: string | null) => {
    const pauseMs = Math.min((retries.get(guildId)?.pauseMs ?? FIRST_RETRY_MS / 2) * 2, LONGEST_RETRY_MS);
    retries.set(guildId, { pauseMs, cancel: clock.after(pauseMs, () => void sync(guildId)) });
  };

  const sync = coalesced<string | null>(async (guildId) => {
    retries.get(guildId)?.cancel();
    try {
      await bringInLine(guildId);
      retries.delete(guildId);
    } catch (error) {
      log.warn('slash commands could not be updated', { guildId, error });
      if (isTransient(error)) retryLater(guildId);
      else retries.delete(guildId);
    }
  }, CONCURRENCY);

  return {
    sync,
    async syncAll(): Promise<void> {
      await Promise.all([null, ...client.guilds.cache.keys()].map(sync));
    },
  };
}
