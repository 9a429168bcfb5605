import type { Clock } from '@cinnabar/sdk';

const WINDOW_MS = 60_000;
const LIMIT = 10;
const PAUSE_MS = 60_000;
/** So many places with errors are kept without looking which are old. */
const FEW = 100;

export interface Suspensions {
  /** Counts an error; `true` when it is the one that suspends. */
  count(plugin: string, guildId: string | null): boolean;
  /** Suspends a plugin everywhere, for a minute from now. */
  suspend(plugin: string): void;
  active(plugin: string, guildId: string | null): boolean;
}

const EVERYWHERE = '*';

/** Ten errors of one plugin in one guild within a minute suspend its listeners there for a minute. */
export function createSuspensions(clock: Clock): Suspensions {
  const errors = new Map<string, number[]>();
  const until = new Map<string, number>();
  const holds = (place: string): boolean => {
    const end = until.get(place);
    if (end === undefined) return false;
    if (clock.now() < end) return true;
    until.delete(place);
    return false;
  };
  /** Errors that no longer count, of plugins and guilds that have had none since. */
  const forgetOld = (now: number) => {
    if (errors.size <= FEW) return;
    for (const [place, times] of errors) if (times.every((at) => now - at >= WINDOW_MS)) errors.delete(place);
  };
  const key = (plugin: string, guildId: string | null) => `${plugin} ${guildId ?? 'dm'}`;

  return {
    count(plugin, guildId) {
      const place = key(plugin, guildId);
      const now = clock.now();
      const recent = (errors.get(place) ?? []).filter((at) => now - at < WINDOW_MS);
      recent.push(now);
      if (recent.length < LIMIT) {
        forgetOld(now);
        errors.set(place, recent);
        return false;
      }
      errors.delete(place);
      until.set(place, now + PAUSE_MS);
      return true;
    },
    suspend(plugin) {
      until.set(key(plugin, EVERYWHERE), clock.now() + PAUSE_MS);
    },
    active(plugin, guildId) {
      // Nearly always nobody is suspended: then no key is built.
      if (until.size === 0) return false;
      return holds(key(plugin, guildId)) || holds(key(plugin, EVERYWHERE));
    },
  };
}
