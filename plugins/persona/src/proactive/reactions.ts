import { isOwnMessage, type Registrar, sanitizeName } from '@cinnabar/sdk';
import type { Allowance } from './allowance.js';
import { livesIn, runUnasked, type UnaskedParts } from './start.js';

/** Notices what people think of what the persona has said. */
export function noticeReactions(
  { on }: Pick<Registrar, 'on'>,
  parts: UnaskedParts & { readonly allowance: Allowance },
): void {
  on('messageReactionAdd', async ({ message, emoji }, user) => {
    const { guildId, channelId, channel } = message;
    if (guildId === null || user.bot === true || !channel.isSendable()) return;
    // Most reactions are to what people say: those cost no look at the settings.
    if (message.author != null && !isOwnMessage(message)) return;
    const settings = await parts.settingsFor(guildId);
    if (!settings.onReaction) return;
    const { lines } = await parts.conversations.read(channelId);
    const line = lines.find(({ userId, messageIds }) => userId === null && messageIds.includes(message.id));
    if (line === undefined || !(await livesIn(channel, parts))) return;
    if (!(await parts.allowance.take(guildId, settings))) return;
    const member = message.guild?.members.cache.get(user.id);
    const name = sanitizeName(member?.displayName ?? user.displayName ?? '') || 'someone';
    const trigger = {
      type: 'reaction',
      content: line.text,
      at: parts.clock.now(),
      by: { userId: user.id, name },
      emoji: (emoji.name ?? 'an emoji').slice(0, 40),
      messageId: message.id,
    } as const;
    await runUnasked(trigger, channel, parts);
  });
}
