import { type PersonaPlace, sanitizeName } from '@cinnabar/sdk';
import { ChannelType, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { TurnRun } from '../actions/action.js';
import { hasBook } from '../cards/card-store.js';
import type { PersonaContext } from '../context.js';
import { catchUp } from '../conversation/catch-up.js';
import { textsOf } from '../conversation/chapters.js';
import { memberFinder, mentionedIn, namesIn } from '../conversation/members.js';
import type { Recall, Recalled, Visibility } from '../memory/types.js';
import type { PersonaSettings } from '../settings.js';
import { type Attachments, readAttachments } from './attachments.js';
import { speakerIn, type TriggerContext, withNamesOf } from './trigger-context.js';

/** What holds for a whole run. */
export interface RunContext {
  readonly settings: PersonaSettings;
  readonly place: PersonaPlace;
  /** What was said before the lines, in short: oldest first. */
  readonly earlier: readonly string[];
  readonly recalled: readonly Recalled[];
  /** What the persona's card has to say on what is being talked about. */
  readonly lore: readonly string[];
  /** What is attached to what is answered, and what that replies to. */
  readonly attachments: Attachments;
  /** What every action knows; what it focuses on comes with its plan. */
  readonly run: Omit<TurnRun, 'context' | 'completed' | 'say' | 'noteMemory'>;
}

const MOST_QUERY = 1_000;
/** Memories of what was said, and of the speaker. */
const RELEVANT = 6;
const OF_SPEAKER = 4;
const LORE_MS = 2_000;
/** So many lines are looked through for keys of the card's book. */
const LATEST = 6;

/** Reads the conversation, the state and the memories. */
export async function readRunContext(
  triggered: TriggerContext,
  signal: AbortSignal,
  persona: PersonaContext,
): Promise<RunContext> {
  const { trigger, channel, guildId, actor, tools, reflection } = triggered;
  const { client, conversations, store } = persona;
  const sessionId = persona.random.id();
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
  return {
    settings,
    place,
    earlier: textsOf(chapters),
    recalled: await recall({ place: memoryPlace, query, askedBy: speaker?.userId, people, signal }, persona),
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

/** What has to do with what was said, and what matters about the speaker, however little they said. */
async function recall(about: Recall, { memories }: PersonaContext): Promise<readonly Recalled[]> {
  const { place, askedBy, signal } = about;
  const relevant = await memories.retrieve({ ...about, limit: RELEVANT });
  if (askedBy === undefined) return relevant;
  const known = new Set(relevant.map(({ memory }) => memory.id));
  const theirs = await memories.retrieve({ place, about: [askedBy], limit: OF_SPEAKER, signal });
  return [...relevant, ...theirs.filter(({ memory }) => !known.has(memory.id))];
}

/** A book that cannot be read in time is left out: the turn goes on without it. */
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

/** What a persona is called where it has no name of its own: as the bot is. */
export function selfName(own: string, channel: SendableChannels): string {
  const bot = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return sanitizeName(own) || sanitizeName(bot ?? channel.client.user.displayName) || 'the bot';
}

/** What everybody in the guild may read, everybody in the guild may be told. */
function visibilityOf(channel: SendableChannels): Visibility {
  if (channel.isDMBased()) return 'dm';
  const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;
  const readable = ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);
  const isPublic = channel.permissionsFor(channel.guild.roles.everyone)?.has(readable) === true;
  return isPublic && !(channel.isThread() && channel.type === ChannelType.PrivateThread) ? 'guild' : 'channel';
}
