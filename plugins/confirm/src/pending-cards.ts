import type { SettledOutcome, ToolCall } from '@cinnabar/sdk';
import type { CardState, Face } from './controls.js';
import type { Allowance } from './grants.js';

/** A card that is in a channel and waits for its requester. */
export interface WaitingCard {
  /** The first call's: the card's record goes by it. */
  readonly callId: string;
  /** The only one who may decide. */
  readonly userId: string;
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
  /** What is being asked, unescaped, for lists. */
  readonly sentence: string;
  /** What its message says, and what it is decided with, in a state. */
  draw(state: CardState): Face;
  state: CardState;
  /** Resolves when the latest change of its message is there, or has failed. */
  drawn: Promise<unknown>;
  /** Milliseconds since the epoch. Until then, inclusive, it may be decided. */
  readonly expiresAt: number;
  /** What happens on 👍 and 👎. */
  readonly request: Request;
  /** Further calls of the same step that are decided with it, in the order in which they run. */
  readonly others: readonly Request[];
}

export interface Request {
  readonly call: ToolCall;
  /** What may be allowed beside this one call. */
  readonly allowance: Allowance;
  /** Runs the call; does so only once it is approved. */
  run(): Promise<SettledOutcome>;
  /** Tells whoever waits for the outcome. */
  settle(outcome: SettledOutcome): void;
}

/** The calls of a card, in the order in which they run. */
export function requestsOf({ request, others }: Pick<WaitingCard, 'request' | 'others'>): readonly Request[] {
  return [request, ...others];
}

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
