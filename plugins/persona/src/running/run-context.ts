import {
  type Actor,
  attachmentDownloads,
  type CompletedAction,
  type DownloadFailure,
  downloadAttachment,
  type ImageContent,
  isForPeopleOnly,
  isTextFile,
  type Logger,
  type PersonaContact,
  type PersonaPlace,
  type PersonaTrigger,
  readTextFile,
  sanitizeName,
  type TextLimits,
  type ToolInfo,
  type Turn,
  t,
  type WorkCharge,
  withoutNotes,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import {
  type Attachment,
  ChannelType,
  type Message,
  MessageType,
  PermissionFlagsBits,
  type SendableChannels,
} from 'discord.js';
import type { TurnRun } from '../actions/action.js';
import type { PersonaContext, PersonaSettings } from '../context.js';
import { textsOf } from '../conversation/chapters.js';
import type { Line } from '../conversation/conversation-store.js';
import { catchUp, extrasOf } from '../conversation/conversation-sync.js';
import { memberFinder, mentionedIn, namesIn } from '../conversation/render.js';
import type { Recall, Recalled, ReflectionState, Visibility } from '../memory/types.js';
import { hasBook } from '../state/persona-store.js';
import type { SendText } from './execute-action.js';

/** What led to a run, and how to answer. */
export interface TriggerContext {
  readonly trigger: PersonaTrigger;
  readonly channel: SendableChannels;
  readonly guildId: string | null;
  /** The member with whose rights tools are used; `undefined` for an unasked run. */
  readonly actor: Actor | undefined;
  readonly tools: readonly ToolInfo[];
  readonly send: SendText;
  /** `sending` of the answered turn, for texts that do not go through its `reply`. */
  readonly sending?: Turn['sending'];
  /** Limits above which an answer becomes a file. */
  readonly limits?: TextLimits | undefined;
  /** The message that is answered. */
  readonly message: Message | null;
  readonly reflection?: ReflectionState | undefined;
  /** Actions that the run which made the deferred tool call had completed. */
  readonly before?: readonly CompletedAction[];
  readonly signal: AbortSignal;
}

/** The member whose message or action led to the run. */
function speakerIn(trigger: PersonaTrigger): PersonaContact | undefined {
  switch (trigger.type) {
    case 'user_input':
    case 'tool_result':
      return trigger.speaker;
    case 'reaction':
      return trigger.by;
    case 'member_joined':
      return trigger.member;
    default:
      return undefined;
  }
}

/** The trigger with people's names as in the conversation. */
function withNamesOf(trigger: PersonaTrigger, names: ReadonlyMap<string, string>): PersonaTrigger {
  const named = (contact: PersonaContact) => ({ ...contact, name: names.get(contact.userId) ?? contact.name });
  switch (trigger.type) {
    case 'user_input':
    case 'tool_result':
      return { ...trigger, speaker: named(trigger.speaker) };
    case 'reaction':
      return { ...trigger, by: named(trigger.by) };
    case 'member_joined':
      return { ...trigger, member: named(trigger.member) };
    default:
      return trigger;
  }
}

/** The trigger as data for the prompt. */
export function happening(trigger: PersonaTrigger): Readonly<Record<string, unknown>> {
  const { content } = trigger;
  switch (trigger.type) {
    case 'user_input':
      return { what: 'somebody said something to me', from: trigger.speaker.name, said: content };
    case 'tool_result':
      return {
        what: 'a tool call that had to wait has ended',
        for: trigger.speaker.name,
        tool: trigger.tool,
        result: content,
      };
    case 'timer':
      return { what: 'nobody has said anything to me; some time has passed', note: content };
    case 'self_reflection':
      return { what: 'a quiet moment to reflect on what has happened', note: content };
    case 'reaction':
      return {
        what: 'somebody reacted to what I said',
        who: trigger.by.name,
        with: trigger.emoji,
        'what I had said': content,
      };
    case 'member_joined':
      return { what: 'somebody new has joined the server', who: trigger.member.name };
  }
}

/** Why the persona ran, in the first person, for the receipt. */
export function reasonFor(trigger: PersonaTrigger): string {
  switch (trigger.type) {
    case 'user_input':
      return t('I was spoken to');
    case 'tool_result':
      return t('A call of {tool} that had to wait has ended', { tool: trigger.tool });
    case 'timer':
      return t('It was time to think of my own accord');
    case 'self_reflection':
      return t('Enough had happened to reflect on it');
    case 'reaction':
      return t('Somebody reacted to what I had said');
    case 'member_joined':
      return t('Somebody joined');
  }
}

/** The trigger of a turn. */
export function userInput({ user, member, message, text }: Turn, now: number): PersonaTrigger {
  const displayName = member?.displayName ?? user.displayName;
  return {
    type: 'user_input',
    content: inputText(text, message),
    at: message?.createdTimestamp ?? now,
    speaker: { userId: user.id, name: sanitizeName(displayName) || sanitizeName(user.username) || 'someone' },
    messageId: message?.id ?? null,
  };
}

/** The turn as a line of the conversation. */
export function lineOfTurn({ user, member, message, text }: Turn, now: number): Line {
  return {
    messageIds: message === null ? [] : [message.id],
    userId: user.id,
    displayName: member?.displayName ?? user.displayName,
    username: user.username,
    text: inputText(text, message),
    at: message?.createdTimestamp ?? now,
    ...(message === null ? {} : extrasOf(message)),
  };
}

function inputText(text: string, message: Message | null): string {
  if (text.trim() !== '') return withoutNotes(text);
  return message !== null && message.attachments.size > 0 ? '' : '[calls me without a word]';
}

/** Values that do not change during a run. */
export interface RunContext {
  /** The account that is charged. */
  readonly charge: WorkCharge;
  readonly settings: PersonaSettings;
  readonly place: PersonaPlace;
  /** Summaries of the conversation before the lines, oldest first. */
  readonly earlier: readonly string[];
  readonly recalled: readonly Recalled[];
  /** Matching entries of the persona's card. */
  readonly lore: readonly string[];
  /** The attachments of the answered message, and of the message that it replies to. */
  readonly attachments: Attachments;
  /** The run as actions receive it, without the parts that differ for each action. */
  readonly run: Omit<TurnRun, 'context' | 'completed' | 'say' | 'noteMemory' | 'noteCall'>;
}

const MOST_QUERY = 1_000;
/** Number of memories for the message, and for its speaker. */
const RELEVANT = 6;
const OF_SPEAKER = 4;
const LORE_MS = 2_000;
/** Number of latest lines that are searched for keys of the card's book. */
const LATEST = 6;

/** Reads the conversation, the state and the memories. */
export async function readRunContext(
  triggered: TriggerContext,
  charge: WorkCharge,
  signal: AbortSignal,
  persona: PersonaContext,
): Promise<RunContext> {
  const { trigger, channel, guildId, actor, tools, reflection } = triggered;
  const { client, conversations, store } = persona;
  const sessionId = charge.work;
  const place = { guildId, channelId: channel.id };
  const settings = await persona.settingsFor(guildId);
  const messageId = 'messageId' in trigger ? trigger.messageId : null;
  await catchUp(channel, actor, trigger.type === 'user_input' ? messageId : null, persona);
  const { lines, chapters } = await conversations.read(channel.id);
  const { state } = await store.read(place);
  const self = selfName(state.name, channel);
  const names = namesIn(lines, await mentionedIn(lines.slice(-settings.historyMessages), channel), self);
  const named = withNamesOf(trigger, names);
  const speaker = speakerIn(named);
  const memoryPlace = await store.memoryPlace(place);
  const visibility = visibilityOf(channel);
  const origin = { channelId: channel.id, messageId, isPrivate: visibility === 'channel' };
  const people = [...names].map(([userId, name]) => ({ userId, names: [name] }));
  const query = trigger.content.slice(0, MOST_QUERY);
  const about = { place: memoryPlace, query, askedBy: speaker?.userId, people, charge, signal };
  return {
    charge,
    settings,
    place,
    earlier: textsOf(chapters),
    recalled: await recall(about, persona),
    attachments: await readAttachments(triggered.message, settings.model, signal, persona),
    lore: await loreFor(place, [...lines.slice(-LATEST).map(({ text }) => text), trigger.content], signal, persona),
    run: {
      sessionId,
      trigger: named,
      place,
      actor,
      signal,
      author: {
        sessionId,
        userId: speaker?.userId ?? null,
        channelId: origin.isPrivate ? channel.id : null,
        messageId,
      },
      origin,
      speaker,
      botId: client.user?.id ?? '',
      self,
      lines: lines.slice(-settings.historyMessages),
      names,
      findMember: memberFinder(channel, persona.log),
      tools,
      memoryPlace,
      audience: store.audienceAt(place),
      visibility,
      reflection,
    },
  };
}

/** Memories related to the message, and the most important ones about the speaker even if the message is not about them. */
async function recall(about: Recall, { memories }: PersonaContext): Promise<readonly Recalled[]> {
  const { place, askedBy, signal } = about;
  const relevant = await memories.retrieve({ ...about, limit: RELEVANT });
  if (askedBy === undefined) return relevant;
  const known = new Set(relevant.map(({ memory }) => memory.id));
  const theirs = await memories.retrieve({ place, about: [askedBy], limit: OF_SPEAKER, signal });
  return [...relevant, ...theirs.filter(({ memory }) => !known.has(memory.id))];
}

/** Entries of the card's book. None if it cannot be read in time: the turn continues without them. */
async function loreFor(
  place: PersonaPlace,
  texts: readonly string[],
  signal: AbortSignal,
  { cards, cardFiles, log }: PersonaContext,
): Promise<readonly string[]> {
  const rest = await cards.rest(place);
  if (!hasBook(rest)) return [];
  try {
    const group = place.guildId ?? place.channelId;
    return await cardFiles.run('lore', { rest, text: texts.join('\n') }, { timeoutMs: LORE_MS, group, signal });
  } catch (error) {
    signal.throwIfAborted();
    log.warn('the book of a character card could not be used', { ...place, error });
    return [];
  }
}

/** The persona's name, by default the bot's. */
export function selfName(own: string, channel: SendableChannels): string {
  const bot = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return sanitizeName(own) || sanitizeName(bot ?? channel.client.user.displayName) || 'the bot';
}

/** The visibility of memories from a channel: `guild` if every member may read it. */
function visibilityOf(channel: SendableChannels): Visibility {
  if (channel.isDMBased()) return 'dm';
  const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;
  const readable = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  const isPublic = channel.permissionsFor(channel.guild.roles.everyone)?.has(readable) === true;
  return isPublic && !(channel.isThread() && channel.type === ChannelType.PrivateThread) ? 'guild' : 'channel';
}

/** The attachments of the answered message, and of the one that it replies to. */
export interface Attachments {
  readonly images: readonly ImageContent[];
  /** Contents of attached texts. */
  readonly texts: readonly { readonly file: string; readonly text: string }[];
  readonly replied: { readonly userId: string; readonly name: string; readonly text: string } | undefined;
}

const MOST_IMAGES = 4;
const MOST_IMAGE_BYTES = 5_000_000;
const MOST_TEXTS = 3;
/** Maximum length of each, from its beginning. */
const MOST_TEXT_BYTES = 8_000;
const MOST_REPLIED = 1_500;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Reads the images and files of a message that the persona answers. Files that cannot be fetched are omitted. */
async function readAttachments(
  message: Message | null,
  model: string | undefined,
  signal: AbortSignal,
  persona: PersonaContext,
): Promise<Attachments> {
  if (message === null) return { images: [], texts: [], replied: undefined };
  const { client, llm, log } = persona;
  const replied = message.type === MessageType.Reply ? await repliedTo(message, log) : undefined;
  const attachments = [message, ...(replied === undefined ? [] : [replied])].flatMap((one) => [
    ...one.attachments.values(),
  ]);
  const readsImages = (await llm?.traits(model).catch(() => undefined))?.images === true;
  const images = readsImages ? attachments.filter(isImage).slice(0, MOST_IMAGES) : [];
  const files = attachments.filter(isTextFile).slice(0, MOST_TEXTS);
  const downloads = attachmentDownloads(client, { ...persona, signal });
  const pictures = await Promise.all(
    images.map(async (one) => {
      const bytes = await downloadAttachment(new URL(one.url), { ...downloads, maxBytes: MOST_IMAGE_BYTES });
      return unlessFailed(one, bytes, log);
    }),
  );
  const texts = await Promise.all(
    files.map(async (one) =>
      unlessFailed(one, await readTextFile(one, { ...downloads, maxBytes: MOST_TEXT_BYTES }), log),
    ),
  );
  return {
    images: pictures.flatMap((bytes, index) => {
      const mediaType = images[index]?.contentType?.split(';')[0];
      if (bytes === undefined || mediaType === undefined) return [];
      return [
        { type: 'image' as const, source: { type: 'base64' as const, data: bytes.toString('base64'), mediaType } },
      ];
    }),
    texts: texts.flatMap((file, index) =>
      file === undefined ? [] : [{ file: files[index]?.name ?? 'file', text: file.text }],
    ),
    replied: replied && {
      userId: replied.author.id,
      name: sanitizeName(replied.member?.displayName ?? replied.author.displayName) || 'someone',
      text: withoutNotes(withoutNoticeMark(replied.content)).slice(0, MOST_REPLIED),
    },
  };
}

/** The message that was replied to, unless it is a notice or an aside that starts with a full stop. */
async function repliedTo(message: Message, log: Logger): Promise<Message | undefined> {
  try {
    const replied = await message.fetchReference();
    return isForPeopleOnly(replied) ? undefined : replied;
  } catch (error) {
    log.debug('the message that was replied to could not be read', { channelId: message.channelId, error });
    return undefined;
  }
}

function isImage({ contentType, size }: Attachment): boolean {
  return IMAGES.has(contentType?.split(';')[0] ?? '') && size <= MOST_IMAGE_BYTES;
}

function unlessFailed<T extends object>({ name }: Attachment, result: T | DownloadFailure, log: Logger): T | undefined {
  if (typeof result !== 'string') return result;
  log.debug('an attachment could not be read', { name, failure: result });
  return undefined;
}
