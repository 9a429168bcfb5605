import type { LocalMessage } from '@cinnabar/sdk/testing';
import { type Order, VERBS, worded } from './orders.js';
import type { Stage } from './stage.js';

/** How often alice says the same about a card: one that nobody has heard is said again. */
const AGAIN_MS = 150;

/** What a card that waits for a decision looks like. */
export const isOpenCard = ({ content }: LocalMessage) =>
  content.includes('use its tool wipe') && /React with/.test(content);

/** Alice, who gives orders and decides about cards: of ten she approves six, denies two and forgets two. */
export function createPeople({ alice, application, channels, chance, posted }: Stage) {
  const said = new Map<number, LocalMessage>();
  const minds = new Map<string, '👍' | '👎' | undefined>();
  const approved = new Set<number>();
  const latest = new Map<string, number>();

  const mindAbout = ({ id }: LocalMessage) => {
    const fate = chance.below(10);
    if (!minds.has(id)) minds.set(id, fate < 6 ? '👍' : fate < 8 ? '👎' : undefined);
    return minds.get(id);
  };
  const decideAbout = (card: LocalMessage) => {
    const mind = mindAbout(card);
    const before = latest.get(card.id);
    if (mind === undefined || Date.now() - (before ?? 0) < AGAIN_MS) return;
    // Another one of the same kind is no new reaction.
    if (before !== undefined) alice.unreact(card, mind);
    latest.set(card.id, Date.now());
    if (mind === '👍') approved.add(Number(/order\D*(\d+)/i.exec(card.content)?.[1]));
    alice.react(card, mind);
  };

  return {
    /** By the order's number. */
    said,
    /** Orders of which a card was approved. */
    approved,
    order() {
      const order: Order = { number: said.size + 1, verb: chance.pick([...VERBS, 'wipe']) };
      const channel = chance.pick(channels);
      said.set(order.number, alice.say(channel, `${application.user} ${worded(order)}`));
    },
    decide() {
      for (const card of posted().filter(isOpenCard)) decideAbout(card);
    },
  };
}
