import type { Actor, Commands, Logger, Prefixes } from '@cinnabar/sdk';
import { type Message, MessageType, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Memories } from '../memory/types.js';
import type { TraceStore } from '../running/trace.js';
import type { Line } from './schema.js';
import { compareIds } from './snowflake.js';
import type { ConversationStore } from './store.js';

export interface CatchUpParts {
  readonly conversations: ConversationStore;
  readonly commands: Pick<Commands, 'matches'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
  readonly memories: Pick<Memories, 'messageDeleted'>;
  readonly traces: Pick<TraceStore, 'forgetMessages'>;
  readonly log: Logger;
}

/** As many as Discord gives in one request; a persona looks at no more of what it was not asked. */
const LOOK_BACK = 50;

/**
 * Takes in what people have said in the channel since it was last looked at, up to `untilId`; and lets go of what was deleted meanwhile. Reads only
 * where the bot and the one who asks may. What fails is logged: a conversation can be had without it.
 */
export async function catchUp(
  channel: SendableChannels,
  reader: Actor | undefined,
  untilId: string | null,
  { conversations, memories, traces, commands, prefixes, log }: CatchUpParts,
): Promise<void> {
  if (!(await mayRead(channel, reader))) return;
  try {
    const known = await conversations.read(channel.id);
    const fetched = [...(await channel.messages.fetch({ limit: LOOK_BACK, cache: false })).values()];
    const gone = deletedSince(known.lines, fetched);
    if (gone.length > 0) {
      const guildId = channel.isDMBased() ? null : channel.guild.id;
      await conversations.forgetMessages(channel.id, gone);
      await traces.forgetMessages(channel.id, gone);
      await memories.messageDeleted(gone.map((messageId) => ({ guildId, channelId: channel.id, messageId })));
    }
    const fresh = fetched.filter(
      ({ id }) => compareIds(id, known.seenId) > 0 && (untilId === null || compareIds(id, untilId) <= 0),
    );
    const seenId = fresh
      .map(({ id }) => id)
      .sort(compareIds)
      .at(-1);
    if (seenId === undefined) return;
    const guildPrefixes = prefixes.get(channel.isDMBased() ? null : channel.guild.id);
    const lines = fresh.flatMap((message) => {
      const text = spokenText(message, guildPrefixes, commands);
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
  return { messageIds: [id], userId: author.id, displayName, username: author.username, text, at: createdTimestamp };
}

/** What a person said to whoever is there; `undefined` for what is no conversation: bots, commands, asides that start with a full stop. */
export function spokenText(
  message: Message,
  prefixes: readonly string[],
  commands: Pick<Commands, 'matches'>,
): string | undefined {
  const { author, webhookId, type, content } = message;
  if (author.bot || webhookId !== null || (type !== MessageType.Default && type !== MessageType.Reply))
    return undefined;
  const text = content.trim();
  if (text === '' || text.startsWith('.')) return undefined;
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  const said =
    prefix === undefined ? undefined : /^ai\s+(?!use\b|status\b)([\s\S]+)/i.exec(text.slice(prefix.length))?.[1];
  if (said !== undefined) return said;
  return commands.matches(message) ? undefined : text;
}

/** Of what is kept, in the stretch that was read: what is not there any more. */
function deletedSince(lines: readonly Line[], fetched: readonly Message[]): readonly string[] {
  const ids = new Set(fetched.map(({ id }) => id));
  const oldest = fetched.length < LOOK_BACK ? '0' : ([...ids].sort(compareIds)[0] ?? '0');
  return lines.flatMap(({ messageIds }) => messageIds.filter((id) => compareIds(id, oldest) >= 0 && !ids.has(id)));
}

async function mayRead(channel: SendableChannels, reader: Actor | undefined): Promise<boolean> {
  if (channel.isDMBased()) return true;
  const { guild } = channel;
  const needed = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;
  const me = guild.members.me;
  if (me === null || !channel.permissionsFor(me).has(needed)) return false;
  if (reader === undefined) return true;
  const member =
    guild.members.cache.get(reader.userId) ?? (await guild.members.fetch(reader.userId).catch(() => undefined));
  return member !== undefined && channel.permissionsFor(member).has(needed);
}
