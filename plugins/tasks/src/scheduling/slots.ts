/** Whose room a task takes. */
export interface Claim {
  readonly id: string;
  readonly userId: string;
  readonly guildId: string | null;
}

/** How many may work at the same time. */
export interface Bounds {
  readonly perMember: number;
  readonly perGuild: number;
  readonly host: number;
}

/** Room for tasks to work in. Those that find none wait in the order in which they came; who could go on is not held up by who cannot. */
export interface Slots {
  /** Resolves once there is room, `false` when `signal` aborts first. Who has room already keeps it. */
  acquire(claim: Claim, bounds: () => Promise<Bounds>, signal: AbortSignal): Promise<boolean>;
  release(id: string): void;
  has(id: string): boolean;
  /** Its place among those that wait, from 1. */
  placeOf(id: string): number | undefined;
  /** Called with the ids of those that wait, when their order has changed. */
  onOrder(listener: (waiting: readonly string[]) => void): void;
}

interface Waiting {
  readonly claim: Claim;
  readonly bounds: Bounds;
  go(): void;
}

export function createSlots(): Slots {
  const working = new Map<string, Claim>();
  let waiting: Waiting[] = [];
  const listeners = new Set<(waiting: readonly string[]) => void>();

  const fits = ({ userId, guildId }: Claim, { perMember, perGuild, host }: Bounds): boolean => {
    const all = [...working.values()];
    if (all.length >= host) return false;
    if (all.filter((other) => other.userId === userId).length >= perMember) return false;
    return guildId === null || all.filter((other) => other.guildId === guildId).length < perGuild;
  };
  const leave = (id: string) => {
    waiting = waiting.filter(({ claim }) => claim.id !== id);
  };
  const announce = () => {
    for (const listener of listeners) listener(waiting.map(({ claim }) => claim.id));
  };
  const admit = () => {
    const before = waiting.length;
    for (const one of [...waiting]) {
      if (!fits(one.claim, one.bounds)) continue;
      leave(one.claim.id);
      working.set(one.claim.id, one.claim);
      one.go();
    }
    if (waiting.length !== before) announce();
  };

  return {
    async acquire(claim, bounds, signal) {
      if (working.has(claim.id)) return true;
      const limits = await bounds();
      if (signal.aborted) return false;
      return new Promise((resolve) => {
        const abort = () => {
          leave(claim.id);
          announce();
          resolve(false);
        };
        const go = () => {
          signal.removeEventListener('abort', abort);
          resolve(true);
        };
        signal.addEventListener('abort', abort, { once: true });
        waiting.push({ claim, bounds: limits, go });
        const before = waiting.length;
        admit();
        if (waiting.length === before) announce();
      });
    },
    release(id) {
      if (working.delete(id)) admit();
    },
    has: (id) => working.has(id),
    placeOf(id) {
      const index = waiting.findIndex(({ claim }) => claim.id === id);
      return index < 0 ? undefined : index + 1;
    },
    onOrder: (listener) => void listeners.add(listener),
  };
}
