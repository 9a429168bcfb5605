import type { Logger } from '@cinnabar/sdk';
import type { Client, MessageReaction, PartialMessageReaction, PartialUser, User } from 'discord.js';
import { choiceOf } from '../asking/controls.js';
import type { Deliveries } from '../asking/deliveries.js';
import type { Board } from '../waiting/board.js';
import type { Expiry } from '../waiting/expiry.js';
import type { Decide } from './decide.js';

interface Parts {
  readonly board: Board;
  readonly deliveries: Deliveries;
  readonly expiry: Expiry;
  readonly decide: Decide;
  readonly client: Client;
  readonly log: Logger;
}

type Reaction = MessageReaction | PartialMessageReaction;

/** Only the requester's 👍 and 👎 count, in any skin tone, and only the first; their later ones are taken away again. Everyone else's stay. */
export function onReaction({ board, deliveries, expiry, decide, client, log }: Parts) {
  return async function react(reaction: Reaction, user: User | PartialUser): Promise<void> {
    if (user.id === client.user?.id) return;
    await deliveries.settled(user.id);
    const choice = choiceOf(reaction.emoji);
    const card = board.on(reaction.message.id);
    if (card === undefined) {
      if (choice !== undefined && board.deciderOf(reaction.message.id) === user.id) await takeAway(reaction, user.id);
      return;
    }
    if (card.userId !== user.id) return;
    if (expiry.isOverdue(card)) await expiry.expire(card, 'timedOut');
    else if (choice !== undefined) await decide(card, { approved: choice === 'approve' });
  };

  /** Needs Manage Messages, and is never possible in a direct message. Without it the reaction stays, and still means nothing. */
  async function takeAway(reaction: Reaction, userId: string): Promise<void> {
    const channel = reaction.message.channel;
    if (client.user === null || channel.isDMBased()) return;
    if (channel.permissionsFor(client.user)?.has('ManageMessages') !== true) return;
    await reaction.users.remove(userId).catch((error: unknown) => {
      log.debug('a later reaction could not be removed', { messageId: reaction.message.id, error });
    });
  }
}
