import { inNote, isOwnWebhookMessage, isWebhookMessage, speakerId } from '@cinnabar/sdk';
import {
  type Attachment,
  ComponentType,
  type Embed,
  type Message,
  MessageFlags,
  type MessageReaction,
  type MessageSnapshot,
  MessageType,
  type Poll,
} from 'discord.js';
import type { HistoryAttachment, HistoryAuthor, HistoryMessage } from './types.js';

/**
 * Whether a message is part of the channel's history. Ephemeral messages are not, since REST does not return them; nor is a thread's starter, which is the
 * parent's message.
 */
export function isHistory({ flags, type }: Pick<Message, 'flags' | 'type'>): boolean {
  return !flags.has(MessageFlags.Ephemeral) && type !== MessageType.ThreadStarterMessage;
}

/** @param reactions its known reactions; none for a new message */
export function toStored(message: Message, reactions: Iterable<MessageReaction> = []): StoredMessage {
  const author = authorOf(message);
  return stored(
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

/** The custom ids of buttons that the plugin `confirm` adds to cards, also in another bot of this program. */
const CARD_BUTTON = /^confirm:/;

function hasCardButton(component: Message['components'][number]): boolean {
  if (component.type !== ComponentType.ActionRow) return false;
  return component.components.some(({ customId }) => customId !== null && CARD_BUTTON.test(customId));
}

/** The key of an emoji: its id, or the character of a Unicode emoji. */
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
  // Discord sends the referenced message together with a reply.
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

/** Shares one empty list, because most messages have no items. */
function listed<T>(items: readonly T[]): readonly T[] {
  return items.length === 0 ? NOTHING : items;
}

/**
 * Whether a message is tool output that this bot has shown. It uses the same webhook as the bot's messages under other names, but only tool output has the flag
 * `SuppressNotifications`.
 */
function isToolOutput(message: Message): boolean {
  return isOwnWebhookMessage(message) && message.flags.has(MessageFlags.SuppressNotifications);
}

/** The speaker: a user, or a name that another webhook uses. Messages of the bot under another name count as its own. */
function speakerOf(message: Message): string {
  if (isOwnWebhookMessage(message) && !isToolOutput(message)) return message.client.user.id;
  return speakerId(message);
}

function authorOf(message: Message): HistoryAuthor {
  const { author, client } = message;
  const webhook = isWebhookMessage(message);
  const toolOutput = isToolOutput(message);
  const self = webhook ? isOwnWebhookMessage(message) && !toolOutput : author.id === client.user.id;
  return {
    id: self ? client.user.id : author.id,
    speaker: speakerOf(message),
    displayName: webhook ? author.username : (message.member?.displayName ?? author.displayName),
    username: self ? client.user.username : author.username,
    bot: author.bot || webhook,
    self,
    ...(toolOutput ? { ownWebhook: true } : {}),
  };
}

const MAX_FORWARDED = 1_500;

/** The content of a message besides text and files: one line each, in square brackets. */
function extrasOf(message: Message): readonly string[] {
  if (!isSpoken(message)) return [`[${eventOf(message)}]`];
  return [
    ...message.messageSnapshots.map(forwarded),
    ...message.stickers.map(({ name }) => `[sticker: ${inNote(name)}]`),
    ...message.embeds.map((embed) => `[embed: ${embedText(embed)}]`),
    ...(message.poll === null ? [] : [`[poll: ${pollText(message.poll)}]`]),
  ];
}

function forwarded(snapshot: MessageSnapshot): string {
  const parts = [
    inNote(snapshot.content ?? '', MAX_FORWARDED),
    ...(snapshot.embeds ?? []).map((embed) => `(embed: ${embedText(embed)})`),
    ...(snapshot.stickers ?? []).map(({ name }) => `(sticker: ${inNote(name)})`),
  ];
  return `[forwarded: ${parts.filter((part) => part !== '').join(' ')}]`;
}

function embedText({ author, title, description, fields, url }: Embed): string {
  const parts = [author?.name, title, description, ...fields.map(({ name, value }) => `${name}: ${value}`)];
  const told = parts.filter((part) => part !== undefined && part !== null && part !== '');
  return inNote(told.length === 0 ? (url ?? 'untitled') : told.join(' | '));
}

function pollText({ question, answers }: Poll): string {
  const choices = answers.map(({ text }) => text ?? '').filter((text) => text !== '');
  return inNote(`${question.text ?? ''} (${choices.join(' / ')})`);
}

const SPOKEN: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

/** Whether a member or bot wrote it. All other types are events that Discord announces. */
function isSpoken({ type }: Pick<Message, 'type'>): boolean {
  return SPOKEN.has(type);
}

const EVENTS: { readonly [T in MessageType]?: string } = {
  [MessageType.ChannelPinnedMessage]: 'pinned a message',
  [MessageType.UserJoin]: 'joined the server',
  [MessageType.GuildBoost]: 'boosted the server',
  [MessageType.GuildBoostTier1]: 'boosted the server to level 1',
  [MessageType.GuildBoostTier2]: 'boosted the server to level 2',
  [MessageType.GuildBoostTier3]: 'boosted the server to level 3',
  [MessageType.ChannelFollowAdd]: 'made this channel follow another',
  [MessageType.AutoModerationAction]: 'automatic moderation acted',
  [MessageType.PollResult]: 'a poll ended',
};

/** The text of a system message, from its author's point of view. */
function eventOf({ type, content }: Pick<Message, 'type' | 'content'>): string {
  if (type === MessageType.ThreadCreated) return `started the thread "${inNote(content)}"`;
  if (type === MessageType.ChannelNameChange) return `renamed the channel to "${inNote(content)}"`;
  return EVENTS[type] ?? inWords(MessageType[type]);
}

/** The words of a type that is not listed here: `StageStart` as `stage start`. */
function inWords(name: string | undefined): string {
  return (name ?? 'something happened').replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

/** The reactions with one emoji to a message. */
interface Tally {
  readonly name: string;
  /** Number of users other than this bot. */
  readonly others: number;
  readonly mine: boolean;
}

/** A message in the store. */
export interface StoredMessage {
  /** The message as windows show it. */
  readonly message: HistoryMessage;
  /** Whether it is the bot's own with buttons or menus, or a card of another bot of this program. */
  readonly controls: boolean;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Approximate size in memory. */
  readonly bytes: number;
}

type MessageFacts = Omit<HistoryMessage, 'reactions' | 'card'>;

const NONE: readonly string[] = [];

const NO_TALLIES: ReadonlyMap<string, Tally> = new Map();

/** Measured sizes in bytes of the objects of a message, and of a list, a reaction or an attachment. */
const MESSAGE_BYTES = 500;

const ITEM_BYTES = 200;

/** Bytes per character of a text that is not Latin-1; other texts take half. */
const CHARACTER_BYTES = 2;

function stored(facts: MessageFacts, controls: boolean, tallies: ReadonlyMap<string, Tally>): StoredMessage {
  const counted = [...tallies.values()];
  const byOthers = counted.filter(({ others }) => others > 0).map(({ name }) => name);
  const asked = ['👍', '👎'].every((name) => counted.some((tally) => tally.mine && tally.name === name));
  const card = controls || (facts.author.self && asked);
  const reactions = byOthers.length === 0 ? NONE : byOthers;
  const { id, channelId, author, content, createdAt, editedAt, replyTo, attachments, extras } = facts;
  // Properties are listed, because an object made with a spread has its own hidden class, which takes as much memory as the message.
  const plain = { id, channelId, author, content, createdAt, editedAt, replyTo, attachments, extras, reactions };
  const message: HistoryMessage = card ? { ...plain, card } : plain;
  const bytes = textBytes(facts, tallies.size);
  return { message, controls, tallies: tallies.size === 0 ? NO_TALLIES : tallies, bytes };
}

function textBytes({ content, extras, attachments }: MessageFacts, tallies: number): number {
  const texts = [content, ...extras, ...attachments.flatMap(({ url, name }) => [url, name])];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return MESSAGE_BYTES + ITEM_BYTES * (extras.length + attachments.length + tallies) + CHARACTER_BYTES * characters;
}

/** An edited message: the new text with the old reactions. */
export function edited(old: StoredMessage, fresh: StoredMessage): StoredMessage {
  return stored(factsOf(fresh), fresh.controls, old.tallies);
}

/** The message after an emoji was added (`by` 1) or removed (`by` -1). */
export function reacted(held: StoredMessage, key: string, name: string, by: 1 | -1, mine: boolean): StoredMessage {
  const old = held.tallies.get(key) ?? { name, others: 0, mine: false };
  const tally = mine ? { ...old, mine: by > 0 } : { ...old, others: Math.max(0, old.others + by) };
  const tallies = new Map(held.tallies);
  if (tally.mine || tally.others > 0) tallies.set(key, tally);
  else tallies.delete(key);
  return stored(factsOf(held), held.controls, tallies);
}

/** The message without reactions, or without those with one emoji. */
export function unreacted(held: StoredMessage, key?: string): StoredMessage {
  const left = [...held.tallies].filter(([other]) => key !== undefined && other !== key);
  return stored(factsOf(held), held.controls, new Map(left));
}

/** Whether two versions of a message look the same to a reader. */
export function isSame(a: StoredMessage, b: StoredMessage): boolean {
  return (
    a.message.editedAt === b.message.editedAt &&
    a.message.content === b.message.content &&
    a.controls === b.controls &&
    sameList(a.message.extras, b.message.extras) &&
    sameList([...a.message.reactions].sort(), [...b.message.reactions].sort()) &&
    a.message.attachments.length === b.message.attachments.length
  );
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function factsOf({ message }: StoredMessage): MessageFacts {
  const { reactions: _reactions, card: _card, ...facts } = message;
  return facts;
}
