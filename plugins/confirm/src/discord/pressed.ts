import type { SendableChannels } from 'discord.js';
import { choiceOf } from '../asking/controls.js';
import { isGone } from './errors.js';

/** What a member has pressed on a card, as Discord says: for when its event may not have come. 👎 goes before 👍. */
export async function pressedBy(
  channel: SendableChannels,
  messageId: string,
  userId: string,
): Promise<'approve' | 'refuse' | undefined> {
  try {
    const message = await channel.messages.fetch({ message: messageId, force: true });
    // Users are listed by id, from the one after `after` on.
    const after = (BigInt(userId) - 1n).toString();
    for (const choice of ['refuse', 'approve'] as const) {
      const reactions = message.reactions.cache.filter(({ emoji }) => choiceOf(emoji) === choice);
      for (const reaction of reactions.values()) {
        if ((await reaction.users.fetch({ limit: 1, after })).has(userId)) return choice;
      }
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return undefined;
}
