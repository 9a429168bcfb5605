import { attachmentDownloads, type PersonaContact, type PersonaPlace, sanitizeName } from '@cinnabar/sdk';
import { ChannelType, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { TurnRun } from '../actions/action.js';
import { hasBook } from '../cards/worker.js';
import type { RunParts } from '../context.js';
import { catchUp } from '../conversation/catch-up.js';
import { textsOf } from '../conversation/chapters.js';
import { memberFinder, mentionedIn, namesIn } from '../conversation/members.js';
import type { Line } from '../conversation/schema.js';
import type { Memories, Recall, Recalled, Visibility } from '../memory/types.js';
import type { PersonaSettings } from '../settings.js';
import { lookAt, type Seen } from './attachments.js';
import type { Occasion } from './trigger-context.js';

/** What holds for a whole run. */
export interface Scene {
  readonly settings: PersonaSettings;
  readonly place: PersonaPlace;
  /** What was said before the lines, in short: oldest first. */
  readonly earlier: readonly string[];
  readonly recalled: readonly Recalled[];
  /** What the persona's card has to say on what is being talked about. */
  readonly lore: readonly string[];
  /** What is attached to what is answered, and what that replies to. */
  readonly seen: Seen;
  /** What every action knows; what it focuses on comes with its plan. */
  readonly run: Omit<TurnRun, 'context' | 'completed' | 'say' | 'noteMemory'>;
}

const MOST_QUERY = 1_000;

/** Reads the conversation, the state and the memories. */
export async function setScene(occasion: Occasion, signal: AbortSignal, parts: RunParts): Promise<Scene> {
  const { trigger, channel, guildId, actor, tools } = occasion;
  const { client, conversations, memories, store } = parts;
  const sessionId = parts.random.id();
  const place = { guildId, channelId: channel.id };
  const settings = await parts.settingsFor(guildId);
  const messageId = 'messageId' in trigger ? trigger.messageId : null;
  await catchUp(channel, actor, trigger.type === 'user_input' ? messageId : null, parts);
  const { lines, chapters } = await conversations.read(channel.id);
  const { state } = await store.read(place);
  const self = selfName(state.name, channel);
  const speaker = speakerOf(occasion);
  const names = namesIn(lines, await mentionedIn(lines.slice(-settings.historyMessages), channel), self);
  const memoryPlace = await store.memoryPlace(place);
  const visibility = visibilityOf(channel);
  const origin = { channelId: channel.id, messageId, isPrivate: visibility === 'channel' };
  const recalled = await recall(memories, {
    place: memoryPlace,
    query: trigger.content.slice(0, MOST_QUERY),
    askedBy: speaker?.userId,
    people: [...names].map(([userId, name]) => ({ userId, names: [name] })),
    signal,
  });
  return {
    settings,
    place,
    earlier: textsOf(chapters),
    recalled,
    seen: await lookAt(occasion.message, {
      ...attachmentDownloads(client, { ...parts, signal }),
      log: parts.log,
      images: (await parts.llm?.traits(settings.model).catch(() => undefined))?.images === true,
    }),
    lore: await loreFor(place, heardIn(lines, trigger.content), signal, parts),
    run: {
      sessionId,
      trigger: named(trigger, names),
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
      speaker: speaker && withName(speaker, names),
      botId: client.user?.id ?? '',
      self,
      lines: lines.slice(-settings.historyMessages),
      names,
      findMember: memberFinder(channel, parts.log),
      tools,
      memoryPlace,
      told: store.toldAt(place),
      visibility,
      reflection: occasion.reflection,
    },
  };
}

/** A book that cannot be read in time is left out: the turn goes on without it. */
async function loreFor(
  place: PersonaPlace,
  text: string,
  signal: AbortSignal,
  { cards, cardFiles, log }: Pick<RunParts, 'cards' | 'cardFiles' | 'log'>,
): Promise<readonly string[]> {
  const rest = await cards.rest(place);
  if (!hasBook(rest)) return [];
  try {
    const group = place.guildId ?? place.channelId;
    return await cardFiles.run('lore', { rest, text }, { timeoutMs: LORE_MS, group, signal });
  } catch (error) {
    signal.throwIfAborted();
    log.warn('the book of a character card could not be used', { ...place, error });
    return [];
  }
}

const LORE_MS = 2_000;
const LATEST = 6;

function heardIn(lines: readonly Line[], content: string): string {
  return [...lines.slice(-LATEST).map(({ text }) => text), content].join('\n');
}

/** What a persona is called where it has no name of its own: as the bot is. */
export function selfName(own: string, channel: SendableChannels): string {
  const bot = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return sanitizeName(own) || sanitizeName(bot ?? channel.client.user.displayName) || 'the bot';
}

/** Whose words led to the run. */
function speakerOf({ trigger }: Pick<Occasion, 'trigger'>): PersonaContact | undefined {
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

/** The names by which people are called in the conversation. */
function named(trigger: Occasion['trigger'], names: ReadonlyMap<string, string>): Occasion['trigger'] {
  switch (trigger.type) {
    case 'user_input':
    case 'tool_result':
      return { ...trigger, speaker: withName(trigger.speaker, names) };
    case 'reaction':
      return { ...trigger, by: withName(trigger.by, names) };
    case 'member_joined':
      return { ...trigger, member: withName(trigger.member, names) };
    default:
      return trigger;
  }
}

function withName(contact: PersonaContact, names: ReadonlyMap<string, string>): PersonaContact {
  return { ...contact, name: names.get(contact.userId) ?? contact.name };
}

/** What everybody in the guild may read, everybody in the guild may be told. */
function visibilityOf(channel: SendableChannels): Visibility {
  if (channel.isDMBased()) return 'dm';
  const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;
  const readable = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  const isPublic = channel.permissionsFor(channel.guild.roles.everyone)?.has(readable) === true;
  return isPublic && !(channel.isThread() && channel.type === ChannelType.PrivateThread) ? 'guild' : 'channel';
}

/** For so long the same words to one person are a repetition; later, people say good night again. */
const LATELY_MS = 10 * 60_000;

/** What the persona said lately to the person it answers; where it answers no one, all that it said in the channel. Oldest first. */
export function saidTo(lines: readonly Line[], speakerId: string | undefined, now: number): readonly Line[] {
  const own = lines.filter(({ userId, callId }) => userId === null && callId === undefined);
  if (speakerId === undefined) return own;
  return own.filter(({ answers, at }) => answers === speakerId && now - at <= LATELY_MS);
}

/** Of what was said, and of whoever said it. */
const RELEVANT = 6;
const OF_SPEAKER = 4;

/** What comes to mind: what has to do with what was said, and what matters about whoever said it, however little they said. */
export async function recall(
  memories: Pick<Memories, 'retrieve'>,
  about: Omit<Recall, 'limit' | 'about'>,
): Promise<readonly Recalled[]> {
  const { place, askedBy, signal } = about;
  const relevant = await memories.retrieve({ ...about, limit: RELEVANT });
  if (askedBy === undefined) return relevant;
  const known = new Set(relevant.map(({ memory }) => memory.id));
  const theirs = await memories.retrieve({ place, about: [askedBy], limit: OF_SPEAKER, signal });
  return [...relevant, ...theirs.filter(({ memory }) => !known.has(memory.id))];
}
