import type { Clock } from '@cinnabar/sdk';

const MINUTE_MS = 60_000;

/** How many turns each person may still take. */
export interface Allowance {
  /** Counts a turn. Over the limit it says how long to wait, and whether this is the first time it has to say so. */
  take(userId: string, perMinute: number): { readonly waitMs: number; readonly first: boolean } | undefined;
  /** Forgets those who have said nothing for a minute. */
  sweep(): void;
}

interface Spent {
  readonly at: readonly number[];
  readonly told: boolean;
}

/** A sliding window of one minute per person. */
export function createAllowance(clock: Clock): Allowance {
  const spent = new Map<string, Spent>();
  const recent = (userId: string) => (spent.get(userId)?.at ?? []).filter((at) => at > clock.now() - MINUTE_MS);
  return {
    take(userId, perMinute) {
      if (perMinute === 0) return undefined;
      const at = recent(userId);
      if (at.length < perMinute) {
        spent.set(userId, { at: [...at, clock.now()], told: false });
        return undefined;
      }
      const first = spent.get(userId)?.told !== true;
      spent.set(userId, { at, told: true });
      return { waitMs: (at[at.length - perMinute] ?? clock.now()) + MINUTE_MS - clock.now(), first };
    },
    sweep() {
      for (const userId of [...spent.keys()]) if (recent(userId).length === 0) spent.delete(userId);
    },
  };
}
