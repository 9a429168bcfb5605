import type { WaitingCard } from './card.js';

/** The cards that wait, by message and by requester; and who decided the latest ones, so that a second thought is recognised. */
export interface Board {
  add(card: WaitingCard): void;
  /** Takes the card off. `false` when somebody else has: whoever gets `true` is the one who goes on with it. */
  take(card: WaitingCard): boolean;
  has(card: WaitingCard): boolean;
  on(messageId: string): WaitingCard | undefined;
  of(userId: string): ReadonlySet<WaitingCard> | undefined;
  all(): Iterable<WaitingCard>;
  /** The longest-waiting card once there are more than `most`. */
  surplus(most: number): WaitingCard | undefined;
  decided(messageId: string, userId: string): void;
  /** Who decided that card; `undefined` when nobody has, or long ago. */
  deciderOf(messageId: string): string | undefined;
}

const DECIDED_KEPT = 1000;

export function createBoard(): Board {
  const byMessage = new Map<string, WaitingCard>();
  const byUser = new Map<string, Set<WaitingCard>>();
  const deciders = new Map<string, string>();

  return {
    add(card) {
      byMessage.set(card.messageId, card);
      byUser.set(card.userId, (byUser.get(card.userId) ?? new Set()).add(card));
    },
    take(card) {
      if (!byMessage.delete(card.messageId)) return false;
      const theirs = byUser.get(card.userId);
      theirs?.delete(card);
      if (theirs?.size === 0) byUser.delete(card.userId);
      return true;
    },
    has: ({ messageId }) => byMessage.has(messageId),
    on: (messageId) => byMessage.get(messageId),
    of: (userId) => byUser.get(userId),
    all: () => [...byMessage.values()],
    surplus: (most) => (byMessage.size > most ? byMessage.values().next().value : undefined),
    decided(messageId, userId) {
      deciders.set(messageId, userId);
      const [oldest] = deciders.keys();
      if (deciders.size > DECIDED_KEPT && oldest !== undefined) deciders.delete(oldest);
    },
    deciderOf: (messageId) => deciders.get(messageId),
  };
}
