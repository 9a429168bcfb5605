import { type Commands, inNote, isDotMessage, withoutNotes } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';
import type { Line } from './schema.js';

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
  if (isDotMessage(content) || isDotMessage(text)) return undefined;
  // A picture without a word is said, too.
  if (text === '') return message.attachments.size > 0 ? '' : undefined;
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  const said =
    prefix === undefined ? undefined : /^ai\s+(?!use\b|status\b)([\s\S]+)/i.exec(text.slice(prefix.length))?.[1];
  if (said !== undefined) return withoutNotes(said);
  return commands.matches(message) ? undefined : withoutNotes(text);
}

const MOST_FILES = 10;

/** What a line keeps of a message beside its words. */
export function extrasOf({ attachments, reference, type }: Message): Pick<Line, 'replyTo' | 'files'> {
  const files = [...attachments.values()]
    .slice(0, MOST_FILES)
    .map(({ name, contentType, size }) => inNote(`${name}, ${contentType ?? 'file'}, ${Math.ceil(size / 1024)} kB`));
  const replyTo = type === MessageType.Reply ? reference?.messageId : undefined;
  return { ...(files.length === 0 ? {} : { files }), ...(replyTo === undefined ? {} : { replyTo }) };
}

/** Whoever mentions the bot calls it; what is said comes after that. */
function withoutCall(content: string, botId: string): string {
  return content.replace(new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`), '').trim();
}
