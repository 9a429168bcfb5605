import type { LocalMessage } from '@cinnabar/local-discord';
import { type Order, VERBS, worded } from './orders.js';
import type { Stage } from './stage.js';

/** Interval at which alice repeats a decision on a card, in case it was not received. */
const AGAIN_MS = 150;
const MOST_TRIES = 5;

/** A card that is not crossed out. */
const isCard = ({ content }: LocalMessage) => content.includes('use its tool wipe') && content.startsWith('📋');

/** Alice, who gives orders and decides on cards: of ten she approves six, denies two and ignores two. */
export function createPeople({ alice, application, channels, chance, posted }: Stage) {
  const said = new Map<number, LocalMessage>();
  const minds = new Map<string, '👍' | '👎' | undefined>();
  const approved = new Set<number>();
  const tries = new Map<string, number[]>();

  const mindAbout = ({ id }: LocalMessage) => {
    const fate = chance.below(10);
    if (!minds.has(id)) minds.set(id, fate < 6 ? '👍' : fate < 8 ? '👎' : undefined);
    return minds.get(id);
  };
  const decideAbout = (card: LocalMessage) => {
    const mind = mindAbout(card);
    const before = tries.get(card.id) ?? [];
    if (mind === undefined || before.length >= MOST_TRIES || Date.now() - (before.at(-1) ?? 0) < AGAIN_MS) return;
    // A repeated reaction with the same emoji would not be a new one.
    if (before.length > 0) alice.unreact(card, mind);
    tries.set(card.id, [...before, Date.now()]);
    if (mind === '👍') approved.add(Number(/order\D*(\d+)/i.exec(card.content)?.[1]));
    alice.react(card, mind);
  };

  return {
    /** The number of each order. */
    said,
    /** Orders whose card was approved. */
    approved,
    order() {
      const order: Order = { number: said.size + 1, verb: chance.pick([...VERBS, 'wipe']) };
      const channel = chance.pick(channels);
      said.set(order.number, alice.say(channel, `${application.user} ${worded(order)}`));
    },
    /** A message that is not for a bot: it shows that she is active. */
    mumble() {
      for (const channel of channels) alice.say(channel, 'hm');
    },
    decide() {
      for (const card of posted().filter(isCard)) decideAbout(card);
    },
  };
}
