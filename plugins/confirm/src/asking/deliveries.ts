/** Cards on their way: Discord may tell of a reaction to a card before it has confirmed the card itself. */
export interface Deliveries {
  track<T>(userId: string, delivery: Promise<T>): Promise<T>;
  /** Resolves when none of this user's cards is on its way; at once, and without cost, when none is. */
  settled(userId: string): Promise<unknown> | undefined;
}

export function createDeliveries(): Deliveries {
  const underWay = new Set<{ readonly userId: string; readonly delivery: Promise<unknown> }>();
  return {
    async track(userId, delivery) {
      const entry = { userId, delivery };
      underWay.add(entry);
      try {
        return await delivery;
      } finally {
        underWay.delete(entry);
      }
    },
    settled(userId) {
      if (underWay.size === 0) return undefined;
      const theirs = [...underWay].filter((entry) => entry.userId === userId);
      return Promise.allSettled(theirs.map(({ delivery }) => delivery));
    },
  };
}
