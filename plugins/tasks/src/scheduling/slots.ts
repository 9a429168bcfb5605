import { createFairSlots, type FairBounds, type FairClaim } from '@cinnabar/sdk';

/** Whose room a task takes. */
export interface Claim {
  readonly id: string;
  readonly userId: string;
  readonly guildId: string | null;
}

/** Room for tasks to work in. Those that find none wait: guilds take turns, then members, then it goes by the order in which they came. */
export interface Slots {
  /** Resolves once there is room, `false` when `signal` aborts first. A task that has room keeps it. */
  acquire(claim: Claim, bounds: () => Promise<FairBounds>, signal: AbortSignal): Promise<boolean>;
  release(id: string): void;
  has(id: string): boolean;
  /** Its place among those that wait, from 1. */
  placeOf(id: string): number | undefined;
  /** Called with the ids of those that wait, when their order has changed. */
  onOrder(listener: (waiting: readonly string[]) => void): void;
}

export function createSlots(): Slots {
  const listeners = new Set<(waiting: readonly string[]) => void>();
  const slots = createFairSlots<FairClaim & { readonly bounds: FairBounds }>(({ bounds }) => bounds, announce);
  let order: readonly string[] = [];

  function announce(): void {
    const waiting = slots.waiting().map(({ id }) => id);
    if (waiting.join() === order.join()) return;
    order = waiting;
    for (const listener of listeners) listener(order);
  }

  return {
    async acquire({ id, userId, guildId }, bounds, signal) {
      if (slots.has(id)) return true;
      // In direct messages the bound of the member is enough.
      const guild = guildId ?? `direct:${userId}`;
      return slots.acquire({ id, guild, member: userId, bounds: await bounds() }, signal);
    },
    release: slots.release,
    has: slots.has,
    placeOf(id) {
      const index = order.indexOf(id);
      return index < 0 ? undefined : index + 1;
    },
    onOrder: (listener) => void listeners.add(listener),
  };
}
