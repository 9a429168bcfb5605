import { isDotMessage, type Random, type TurnTrigger } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';
import type { Rules } from './rules.js';

/** Looked up once: the enumeration is behind several getters, and this is asked with every message. */
const SAID: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/**
 * Why a message is answered that `ai` does not take by itself; `undefined` when it is not. People: when they say the bot's name, or by
 * chance. Bots: when they say its name or mention it, as long as not too many bots have spoken in a row. Webhooks never.
 * @param chain messages of bots in a row, this one included
 */
export function triggerOf(
  message: Message,
  { name, share, botChainLength }: Rules,
  { botId, chain, random }: { readonly botId: string; readonly chain: number; readonly random: Random },
): TurnTrigger | undefined {
  const { author, webhookId, type, mentions, content } = message;
  if (author.id === botId || webhookId !== null) return undefined;
  if (!SAID.has(type) || isDotMessage(content)) return undefined;
  const isAddressed = mentions.users.has(botId) || mentions.repliedUser?.id === botId;
  if (author.bot) {
    if (chain > botChainLength) return undefined;
    if (isAddressed) return mentions.repliedUser?.id === botId ? 'reply' : 'mention';
    return name?.test(content) === true ? 'name' : undefined;
  }
  // These come by themselves.
  if (isAddressed) return undefined;
  if (name?.test(content) === true) return 'name';
  return share > 0 && random.next() < share ? 'random' : undefined;
}
