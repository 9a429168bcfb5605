import { type Actor, splitMessage, spokenForMark, TIERS, UserError } from '@cinnabar/sdk';
import type { Caller, Parts } from '../parts.js';

const MESSAGE_LIMIT = 2000;

/** The tools that let the bot say what a member wants said. */
export const SPEAKING: ReadonlySet<string> = new Set([
  'discord_send',
  'discord_edit_message',
  'discord_reply_to_forum',
  'discord_create_forum_post',
  'discord_send_webhook_message',
]);

/** Whether the bot speaks for this person in a guild. An agent speaks for itself, as far as it was granted. */
export async function maySpeak(
  { access, settings }: Pick<Parts, 'access' | 'settings'>,
  actor: Actor,
  guildId: string | null,
): Promise<boolean> {
  if (guildId === null || actor.identity !== undefined) return true;
  const { speakFor } = await settings(guildId).get();
  if (speakFor === 'nobody') return false;
  return TIERS.indexOf(await access.tierOf({ ...actor, guildId })) >= TIERS.indexOf(speakFor);
}

/**
 * The text as messages that Discord takes, fences unbroken, each with a line that says for whom it is sent: without it, whatever a member has
 * the bot say would stand there as the bot's own word.
 * @throws UserError when there is nothing to say, or the bot does not speak for this person there
 */
export async function messagesFor(
  parts: Pick<Parts, 'access' | 'settings'>,
  { actor }: Pick<Caller, 'actor'>,
  guildId: string | null,
  text: string,
): Promise<readonly string[]> {
  if (!(await maySpeak(parts, actor, guildId))) {
    throw new UserError(
      'In that server I do not send messages for you; its admins decide that with `!set discord-tools speakFor`.',
    );
  }
  const isMarked = actor.identity === undefined && (await parts.settings(guildId).get()).mark === 'line';
  const mark = isMarked ? spokenForMark(actor.userId) : '';
  const contents = splitMessage(text, MESSAGE_LIMIT - mark.length);
  if (contents.length === 0) throw new UserError('There is nothing to send: the text is empty.');
  return contents.map((content) => mark + content);
}
