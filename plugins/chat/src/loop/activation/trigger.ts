import { isDotMessage, type Random, type TurnTrigger } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';
import type { Rules } from './rules.js';

/** Looked up once: the enumeration is behind several getters, and this is asked with every message. */
const SAID: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/**
 * Why a message is answered that `ai` does not take by itself; `undefined` when it is not. People: when they say the bot's name, or by
 * chance. Bots: when they say its name or mention it in any part of an answer, as long as not too many bots have spoken in a row. Webhooks never.
 * @param said a person's message, or the messages of one answer of a bot
 * @param chain answers of bots in a row, this one included
 */
export function triggerOf(
  said: readonly [Message, ...Message[]],
  { name, share, botChainLength }: Rules,
  { botId, chain, random }: { readonly botId: string; readonly chain: number; readonly random: Random },
): TurnTrigger | undefined {
  const [{ author, webhookId, type, mentions, content }] = said;
  if (author.id === botId || webhookId !== null) return undefined;
  if (!SAID.has(type) || isDotMessage(content)) return undefined;
  const isAddressed = mentions.repliedUser?.id === botId || said.some((part) => part.mentions.users.has(botId));
  if (author.bot) {
    if (chain > botChainLength) return undefined;
    if (isAddressed) return mentions.repliedUser?.id === botId ? 'reply' : 'mention';
    return said.some((part) => name?.test(part.content) === true) ? 'name' : undefined;
  }
  // These come by themselves.
  if (isAddressed) return undefined;
  if (name?.test(content) === true) return 'name';
  return share > 0 && random.next() < share ? 'random' : undefined;
}
