import {
  type Attachment,
  ComponentType,
  type Message,
  MessageFlags,
  type MessageReaction,
  MessageType,
} from 'discord.js';
import { type Held, hold, type Tally } from '../store/held.js';
import type { HistoryAttachment, HistoryMessage } from '../types.js';
import { authorOf, speakerOf } from './author.js';
import { extrasOf } from './extras.js';
import { isSpoken } from './system.js';

/** Whether a message is part of the channel's history: REST lists no ephemeral ones, and a thread's starter is its parent's message. */
export function isHistory({ flags, type }: Pick<Message, 'flags' | 'type'>): boolean {
  return !flags.has(MessageFlags.Ephemeral) && type !== MessageType.ThreadStarterMessage;
}

/** @param reactions those known to be under it now; none when it has just been said */
export function toHeld(message: Message, reactions: Iterable<MessageReaction> = []): Held {
  const author = authorOf(message);
  return hold(
    {
      id: message.id,
      channelId: message.channelId,
      author,
      content: isSpoken(message) ? message.content : '',
      createdAt: message.createdTimestamp,
      editedAt: message.editedTimestamp,
      replyTo: replyOf(message),
      attachments: attachmentsOf(message),
      extras: listed(extrasOf(message)),
    },
    author.self ? message.components.length > 0 : author.bot && message.components.some(hasCardButton),
    tallies(reactions),
  );
}

/** What the plugin `confirm` puts under its cards, also in another bot of this program. */
const CARD_BUTTON = /^confirm:/;

function hasCardButton(component: Message['components'][number]): boolean {
  if (component.type !== ComponentType.ActionRow) return false;
  return component.components.some(({ customId }) => customId !== null && CARD_BUTTON.test(customId));
}

/** Emoji are told apart by id, those of Unicode by name. */
export function emojiKey({ emoji }: Pick<MessageReaction, 'emoji'>): string {
  return emoji.id ?? emoji.name ?? '';
}

function tallies(reactions: Iterable<MessageReaction>): ReadonlyMap<string, Tally> {
  const found = new Map<string, Tally>();
  for (const reaction of reactions) {
    const mine = Number(reaction.me) + Number(reaction.meBurst);
    const tally = { name: reaction.emoji.name ?? '', others: Math.max(0, reaction.count - mine), mine: mine > 0 };
    found.set(emojiKey(reaction), tally);
  }
  return found;
}

function replyOf(message: Message): HistoryMessage['replyTo'] {
  const messageId = message.reference?.messageId;
  if (message.type !== MessageType.Reply || messageId === undefined) return null;
  // Discord sends the message that is answered along with the answer.
  const answered = message.channel.messages.cache.get(messageId);
  const speaker = answered === undefined || answered.partial ? null : speakerOf(answered);
  return { messageId, speaker: speaker ?? message.mentions.repliedUser?.id ?? null };
}

function attachmentsOf(message: Message): readonly HistoryAttachment[] {
  const forwarded = [...message.messageSnapshots.values()].flatMap(({ attachments }) => [...attachments.values()]);
  return listed([...message.attachments.values(), ...forwarded].map(toAttachment));
}

function toAttachment({ url, name, contentType, size }: Attachment): HistoryAttachment {
  return { url, name, contentType, sizeBytes: size };
}

const NOTHING: readonly never[] = [];

/** Most messages have none: then they share one list. */
function listed<T>(items: readonly T[]): readonly T[] {
  return items.length === 0 ? NOTHING : items;
}
