import { type Commands, withoutNotes } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';

/** What a person said to whoever is there; `undefined` for what is no conversation: bots, commands, asides that start with a full stop. */
export function spokenText(
  message: Message,
  prefixes: readonly string[],
  commands: Pick<Commands, 'matches'>,
): string | undefined {
  const { author, webhookId, type, content } = message;
  if (author.bot || webhookId !== null || (type !== MessageType.Default && type !== MessageType.Reply))
    return undefined;
  const text = withoutCall(content, message.client.user.id);
  if (text === '' || text.startsWith('.')) return undefined;
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  const said =
    prefix === undefined ? undefined : /^ai\s+(?!use\b|status\b)([\s\S]+)/i.exec(text.slice(prefix.length))?.[1];
  if (said !== undefined) return withoutNotes(said);
  return commands.matches(message) ? undefined : withoutNotes(text);
}

/** Whoever mentions the bot calls it; what is said comes after that. */
function withoutCall(content: string, botId: string): string {
  return content.replace(new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`), '').trim();
}
