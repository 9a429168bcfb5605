import { type Actor, CinnabarError, type Clock } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { CommandEntry } from '../registry/entry.js';

/** How many users (guilds, channels) are remembered for one command; beyond that the longest unseen is let off. */
const REMEMBERED = 2000;

export interface Cooldowns {
  /** Counts one use. @throws CINNABAR_COOLDOWN when there were too many */
  use(entry: CommandEntry, actor: Actor): void;
}

/** Sliding windows of use, kept for as long as the command itself. */
export function createCooldowns(clock: Clock): Cooldowns {
  const windows = new WeakMap<CommandEntry, LRUCache<string, readonly number[]>>();

  const windowOf = (entry: CommandEntry) => {
    const window = windows.get(entry) ?? new LRUCache<string, readonly number[]>({ max: REMEMBERED });
    windows.set(entry, window);
    return window;
  };

  return {
    use(entry, actor) {
      if (entry.cooldown === undefined) return;
      const { uses, perMs, by = 'user' } = entry.cooldown;
      const window = windowOf(entry);
      const key = keyOf(by, actor);
      const now = clock.now();
      const recent = (window.get(key) ?? []).filter((at) => at + perMs > now);
      const [oldest] = recent;
      if (oldest !== undefined && recent.length >= uses) {
        throw new CinnabarError('CINNABAR_COOLDOWN', { seconds: Math.ceil((oldest + perMs - now) / 1000) });
      }
      window.set(key, [...recent, now]);
    },
  };
}

function keyOf(by: 'user' | 'guild' | 'channel', { userId, guildId, channelId }: Actor): string {
  if (by === 'user') return userId;
  return by === 'guild' ? (guildId ?? channelId) : channelId;
}
