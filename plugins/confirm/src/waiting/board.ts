import type { WaitingCard } from './card.js';

type CardPlace = Pick<WaitingCard, 'guildId' | 'channelId'>;
type Listed = CardPlace & Pick<WaitingCard, 'messageId' | 'userId'>;

/** The cards that wait, by message and by requester; and who decided the latest ones, so that a second thought is recognised. */
export interface Board<Card extends Listed = WaitingCard> {
  add(card: Card): void;
  /** Takes the card off. `false` when somebody else has: whoever gets `true` is the one who goes on with it. */
  take(card: Card): boolean;
  has(card: Card): boolean;
  on(messageId: string): Card | undefined;
  of(userId: string): ReadonlySet<Card> | undefined;
  all(): Iterable<Card>;
  /** The cards of a guild, or of a direct message. */
  at(place: CardPlace): ReadonlySet<Card>;
  decided(messageId: string, userId: string): void;
  /** Who decided that card; `undefined` when nobody has, or long ago. */
  deciderOf(messageId: string): string | undefined;
}

const DECIDED_KEPT = 1000;

export function createBoard<Card extends Listed = WaitingCard>(): Board<Card> {
  const byMessage = new Map<string, Card>();
  const byUser = new Map<string, Set<Card>>();
  const byPlace = new Map<string, Set<Card>>();
  const deciders = new Map<string, string>();

  return {
    add(card) {
      byMessage.set(card.messageId, card);
      enlist(byUser, card.userId, card);
      enlist(byPlace, placeOf(card), card);
    },
    take(card) {
      if (!byMessage.delete(card.messageId)) return false;
      strikeOff(byUser, card.userId, card);
      strikeOff(byPlace, placeOf(card), card);
      return true;
    },
    has: ({ messageId }) => byMessage.has(messageId),
    on: (messageId) => byMessage.get(messageId),
    of: (userId) => byUser.get(userId),
    all: () => [...byMessage.values()],
    at: (place) => byPlace.get(placeOf(place)) ?? new Set(),
    decided(messageId, userId) {
      deciders.set(messageId, userId);
      const [oldest] = deciders.keys();
      if (deciders.size > DECIDED_KEPT && oldest !== undefined) deciders.delete(oldest);
    },
    deciderOf: (messageId) => deciders.get(messageId),
  };
}

function placeOf({ guildId, channelId }: CardPlace): string {
  return guildId ?? channelId;
}

function enlist<Card>(lists: Map<string, Set<Card>>, key: string, card: Card): void {
  lists.set(key, (lists.get(key) ?? new Set()).add(card));
}

function strikeOff<Card>(lists: Map<string, Set<Card>>, key: string, card: Card): void {
  const list = lists.get(key);
  list?.delete(card);
  if (list?.size === 0) lists.delete(key);
}
