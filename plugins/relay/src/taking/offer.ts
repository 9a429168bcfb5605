import { UserError } from '@cinnabar/sdk';
import type { Budget } from '../presence/budget.js';
import type { OutageNotices } from '../telling/outage-notices.js';
import type { RelayEvent, RelayQueue } from '../types.js';

export interface OfferParts {
  readonly queue: RelayQueue;
  readonly budget: Budget;
  readonly outages: Pick<OutageNotices, 'taken'>;
}

/**
 * Offers an event to the queue, within the guild's budget.
 * @throws UserError when it is not taken
 */
export async function offer(event: RelayEvent, { queue, budget, outages }: OfferParts): Promise<void> {
  const refusal = await budget.refusal(event.guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  const { status } = await queue.offer(event);
  if (status === 'refused') {
    throw new UserError('Too many messages are waiting for the agent already. Please try again in a while.');
  }
  if (status === 'taken') await outages.taken(event);
}
