import {
  type Access,
  type Actor,
  type Commands,
  compareIds,
  idBefore,
  inNote,
  isDotMessage,
  isOwnMessage,
  OLDEST_ID,
  type PersonaPlace,
  type Registrar,
  withoutNotes,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import { type Message, MessageType, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { PersonaContext } from '../context.js';
import { isCorrection } from '../memory/source-changes.js';
import type { MessageRef } from '../memory/types.js';
import type { Conversation, Line } from './conversation-store.js';

/** Discord's maximum for one request. A run reads no more messages that were not addressed to the persona. */
const LOOK_BACK = 50;
/** Number of pages of a hundred messages that are read to rewrite a summary. */
const MOST_PAGES = 5;

/**
 * Adds what people have said in the channel since it was last read, up to `untilId`, and follows deletions and edits since then. Reads only channels that both
 * the bot and the reader may read. Logs errors: the run continues without these messages.
 */
export async function catchUp(
  channel: SendableChannels,
  reader: Actor | undefined,
  untilId: string | null,
  persona: PersonaContext,
): Promise<void> {
  const { conversations, commands, prefixes, log } = persona;
  try {
    if (!(await mayRead(channel, reader, persona.access))) return;
    const known = await conversations.readAll(channel.id);
    const fetched = [...(await channel.messages.fetch({ limit: LOOK_BACK, cache: false })).values()];
    const guildId = channel.isDMBased() ? null : channel.guild.id;
    const spoken = (message: Message) => spokenText(message, prefixes.get(guildId), commands);
    const place = { guildId, channelId: channel.id };
    await followDeletion(place, deletedSince(known, fetched), persona);
    for (const message of editedSince(known, fetched)) {
      await followEdit({ ...place, messageId: message.id }, spoken(message), persona);
    }
    const fresh = fetched.filter(
      ({ id }) => compareIds(id, known.seenId) > 0 && (untilId === null || compareIds(id, untilId) <= 0),
    );
    const seenId = fresh
      .map(({ id }) => id)
      .sort(compareIds)
      .at(-1);
    if (seenId === undefined) return;
    const lines = fresh.flatMap((message) => {
      const text = spoken(message);
      return text === undefined ? [] : [lineOf(message, text)];
    });
    await conversations.add(channel.id, lines, seenId);
  } catch (error) {
    log.warn('what was said in a channel could not be read', { channelId: channel.id, error });
  }
}

function lineOf(message: Message, text: string): Line {
  const { id, author, member, createdTimestamp } = message;
  const displayName = member?.displayName ?? author.displayName;
  return {
    messageIds: [id],
    userId: author.id,
    displayName,
    username: author.username,
    text,
    at: createdTimestamp,
    ...extrasOf(message),
  };
}

/** The stored messages in the fetched range that no longer exist. */
function deletedSince({ lines, chapters }: Conversation, fetched: readonly Message[]): readonly string[] {
  const ids = new Set(fetched.map(({ id }) => id));
  const oldest = fetched.length < LOOK_BACK ? '0' : ([...ids].sort(compareIds)[0] ?? '0');
  const kept = [...chapters, ...lines].flatMap(({ messageIds }) => messageIds);
  return kept.filter((id) => compareIds(id, oldest) >= 0 && !ids.has(id));
}

/** The fetched messages of people that have a stored line and were edited. */
function editedSince({ lines }: Conversation, fetched: readonly Message[]): readonly Message[] {
  const known = new Set(lines.flatMap(({ userId, messageIds }) => (userId === null ? [] : messageIds)));
  return fetched.filter(({ id, editedTimestamp }) => editedTimestamp !== null && known.has(id));
}

/** The current content of some messages, oldest first, without deleted messages and those that no longer belong to the conversation. */
export async function readAgain(
  channel: SendableChannels,
  messageIds: readonly string[],
  { prefixes, commands }: PersonaContext,
): Promise<readonly Line[]> {
  const wanted = new Set(messageIds);
  const guildId = channel.isDMBased() ? null : channel.guild.id;
  const found: Line[] = [];
  let after = idBefore(messageIds[0] ?? OLDEST_ID);
  for (let page = 0; page < MOST_PAGES; page++) {
    const fetched = [...(await channel.messages.fetch({ limit: 100, after, cache: false })).values()];
    const sorted = fetched.sort((one, other) => compareIds(one.id, other.id));
    for (const message of sorted.filter(({ id }) => wanted.has(id))) {
      const isOwn = isOwnMessage(message);
      const text = isOwn ? withoutNoticeMark(message.content) : spokenText(message, prefixes.get(guildId), commands);
      if (text !== undefined) found.push({ ...lineOf(message, text), ...(isOwn ? { userId: null } : {}) });
    }
    const last = sorted.at(-1)?.id;
    if (last === undefined || compareIds(last, messageIds.at(-1) ?? '0') >= 0) break;
    after = last;
  }
  return found;
}

async function mayRead(channel: SendableChannels, reader: Actor | undefined, access: Access): Promise<boolean> {
  if (channel.isDMBased()) return true;
  const needed = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;
  const { me } = channel.guild.members;
  if (me === null || !channel.permissionsFor(me).has(needed)) return false;
  const at = { guildId: channel.guildId, channelId: channel.id };
  return reader === undefined || access.mayEnter(reader, at, ['ReadMessageHistory']);
}

/** The text that a person says to the channel; `undefined` for messages outside of the conversation: bots, commands, asides that start with a full stop. */
function spokenText(
  message: Message,
  prefixes: readonly string[],
  commands: Pick<Commands, 'matches'>,
): string | undefined {
  const { author, webhookId, type, content } = message;
  if (author.bot || webhookId !== null || (type !== MessageType.Default && type !== MessageType.Reply))
    return undefined;
  const text = withoutCall(content, message.client.user.id);
  if (isDotMessage(content) || isDotMessage(text)) return undefined;
  // A picture without text belongs to the conversation.
  if (text === '') return message.attachments.size > 0 ? '' : undefined;
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  const said =
    prefix === undefined ? undefined : /^ai\s+(?!use\b|status\b)([\s\S]+)/i.exec(text.slice(prefix.length))?.[1];
  if (said !== undefined) return withoutNotes(said);
  return commands.matches(message) ? undefined : withoutNotes(text);
}

const MOST_FILES = 10;

/** The properties of a message that a line stores beside its text. */
export function extrasOf({ attachments, reference, type }: Message): Pick<Line, 'replyTo' | 'files'> {
  const files = [...attachments.values()]
    .slice(0, MOST_FILES)
    .map(({ name, contentType, size }) => inNote(`${name}, ${contentType ?? 'file'}, ${Math.ceil(size / 1024)} kB`));
  const replyTo = type === MessageType.Reply ? reference?.messageId : undefined;
  return { ...(files.length === 0 ? {} : { files }), ...(replyTo === undefined ? {} : { replyTo }) };
}

/** Removes a mention of the bot at the beginning or end. */
function withoutCall(content: string, botId: string): string {
  return content.replace(new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`), '').trim();
}

/** Deletes the lines of these messages, with all data derived from them. */
async function followDeletion(
  { guildId, channelId }: PersonaPlace,
  messageIds: readonly string[],
  { conversations, memories, traces, store }: PersonaContext,
): Promise<void> {
  if (messageIds.length === 0) return;
  await conversations.forgetMessages(channelId, messageIds);
  await traces.forgetMessages(channelId, messageIds);
  await store.forgetMessages({ guildId, channelId }, messageIds);
  const learned = await memories.messageDeleted(messageIds.map((messageId) => ({ guildId, channelId, messageId })));
  if (learned > 0) await traces.forgetEverywhere({ messageIds });
}

/** Follows an edit. @param text the new text; `undefined` when the message no longer belongs to the conversation */
async function followEdit(ref: MessageRef, text: string | undefined, persona: PersonaContext): Promise<void> {
  const { channelId, messageId } = ref;
  if (text === undefined) return followDeletion(ref, [messageId], persona);
  // Discord also sends updates that change no text; `edit` compares the stored one.
  const edited = await persona.conversations.edit(channelId, messageId, text);
  if (edited === undefined) return;
  const { before } = edited;
  const learned = await persona.memories.messageEdited(ref, text, before);
  // After a spelling correction, traces, goals and desires that the message led to remain valid.
  if (before !== undefined && isCorrection(before, text)) return;
  await persona.traces.forgetMessages(channelId, [messageId]);
  await persona.store.forgetMessages(ref, [messageId]);
  if (learned > 0) await persona.traces.forgetEverywhere({ messageIds: [messageId] });
}

/** Follows deletions and edits on Discord in conversations, summaries, memories, states and traces. */
export function followChanges(
  { on }: Pick<Registrar, 'on'>,
  persona: PersonaContext,
  /** Deletes the separate persona of a channel. */
  forgetChannel: (channelId: string) => Promise<void>,
): void {
  const { conversations, memories, traces, commands, prefixes } = persona;
  on('messageDelete', ({ guildId, channelId, id }) => followDeletion({ guildId, channelId }, [id], persona));
  on('messageDeleteBulk', (messages, { guildId, id }) =>
    followDeletion({ guildId, channelId: id }, [...messages.keys()], persona),
  );
  on('messageUpdate', async (old, message) => {
    const { guildId, channelId, id, content, author, editedTimestamp } = message;
    // Discord also sends this when an embed has been loaded, or a message pinned.
    if (author.bot || editedTimestamp === null || (!old.partial && old.content === content)) return;
    const text = spokenText(message, prefixes.get(guildId), commands);
    await followEdit({ guildId, channelId, messageId: id }, text, persona);
  });
  on('channelDelete', async (channel) => {
    await conversations.clear(channel.id);
    await traces.clear(channel.id);
    await forgetChannel(channel.id);
    if (channel.isDMBased()) return;
    await memories.channelDeleted(channel.guildId, channel.id);
    // Also clears the memories of the channel's own persona, including its threads.
    await memories.clear({ mind: channel.id, guildId: channel.guildId, channelId: channel.id });
  });
  on('threadDelete', async ({ id, guildId }) => {
    await conversations.clear(id);
    await traces.clear(id);
    await memories.channelDeleted(guildId, id);
  });
}
