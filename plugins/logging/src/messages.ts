import { compareIds, t, textFile, visible } from '@cinnabar/sdk';
import { AuditLogEvent, type Guild, type GuildTextBasedChannel, type Message, type PartialMessage } from 'discord.js';
import { type Entry, type EventLog, type LoggingContext, personText, quoted } from './event-log.js';

/** Deletions in one channel within this time become one entry, because a purge arrives in several parts. */
const TOGETHER_MS = 3_000;
/** Logs an edit at once. */
const JUST_MS = 60_000;
/** Maximum number of deleted messages that are listed in the entry; more are in a file. */
const IN_MESSAGE = 5;
/** Maximum number of deletions that are kept for one entry of a channel; further ones are only counted. */
const MOST_KEPT = 1_000;

type Deleted = Message | PartialMessage;

interface Deletions {
  readonly guild: Guild;
  readonly channel: GuildTextBasedChannel;
  readonly messages: Deleted[];
  count: number;
}

/** The author of an action according to Discord's audit log. */
interface Author {
  readonly userId: string | null;
  readonly reason: string | null;
}

/** Logs edits and deletions. The previous text is known while discord.js has the message in its cache. */
export function logMessages({ on, settings, services, after, client }: LoggingContext, eventLog: EventLog): void {
  const { clock } = services;
  const waiting = new Map<string, Deletions>();
  /** The member who has just deleted several messages of a channel at once, by channel. */
  const authors = new Map<string, Author>();
  const isOwn = ({ author }: Deleted) => author?.id === client.user?.id;
  const isWanted = async (message: Deleted, guild: Guild) =>
    !isOwn(message) && (message.author?.bot !== true || (await settings.guild(guild).get()).bots);

  on('messageUpdate', async (before, now) => {
    const { channel, guild } = now;
    if (guild === null || channel.isDMBased() || now.author?.bot === undefined) return;
    // A link preview is not an edit, and neither is the pin of a message whose previous text is unknown.
    if (before.content === now.content || clock.now() - (now.editedTimestamp ?? 0) > JUST_MS) return;
    const place = await eventLog.placeOf(guild, 'edits', channel);
    if (place === undefined || !(await isWanted(now, guild))) return;
    const isOpen = place.isOpen(channel);
    await eventLog.speaking(guild, () => {
      const head = t('✏️ {who} edited a message in {channel}: {link}', {
        who: personText(now.author),
        channel: `<#${channel.id}>`,
        link: now.url,
      });
      const old = before.content === null ? t('(not known any more)') : quoted(before.content);
      const lines = isOpen
        ? [t('before: {text}', { text: old }), t('after: {text}', { text: quoted(now.content ?? '') })]
        : [leftOut()];
      place.add({ text: [head, ...lines].join('\n') });
    });
  });

  const collect = async (messages: readonly Deleted[], channel: GuildTextBasedChannel) => {
    const { guild } = channel;
    const wanted: Deleted[] = [];
    for (const message of messages) if (await isWanted(message, guild)) wanted.push(message);
    if (wanted.length === 0 || (await eventLog.placeOf(guild, 'deletions', channel)) === undefined) return;
    const found = waiting.get(channel.id) ?? { guild, channel, messages: [], count: 0 };
    if (!waiting.has(channel.id)) {
      waiting.set(channel.id, found);
      after(TOGETHER_MS, () => write(channel.id));
    }
    found.count += wanted.length;
    found.messages.push(...wanted.slice(0, Math.max(0, MOST_KEPT - found.messages.length)));
  };

  const write = async (channelId: string) => {
    const found = waiting.get(channelId);
    waiting.delete(channelId);
    if (found === undefined) return;
    const place = await eventLog.placeOf(found.guild, 'deletions', found.channel);
    if (place === undefined) return;
    const isOpen = place.isOpen(found.channel);
    await eventLog.speaking(found.guild, () => place.add(deletionEntry(found, authors.get(channelId), isOpen)));
  };

  on('messageDelete', (message) => {
    if (message.inGuild()) return collect([message], message.channel);
  });
  on('messageDeleteBulk', (messages, channel) => collect([...messages.values()], channel));
  // Discord sends this shortly before or after the deletion, in time for the same entry.
  on('guildAuditLogEntryCreate', ({ action, targetId, executorId, reason }) => {
    if (action !== AuditLogEvent.MessageBulkDelete || targetId === null || authors.has(targetId)) return;
    authors.set(targetId, { userId: executorId, reason });
    after(2 * TOGETHER_MS, () => authors.delete(targetId));
  });
}

const leftOut = () => t('-# What it said is left out: not all who read this channel can read that one.');

function deletionEntry({ channel, messages, count }: Deletions, by: Author | undefined, isOpen: boolean): Entry {
  const where = `<#${channel.id}>`;
  const who = by?.userId == null ? '' : ` ${t('by {who}', { who: `<@${by.userId}>` })}`;
  const why = by?.reason == null ? '' : ` (${quoted(by.reason, 150)})`;
  const oldestFirst = [...messages].sort((one, other) => compareIds(one.id, other.id));
  const [only] = oldestFirst;
  const head =
    count === 1 && only !== undefined && only.author !== null
      ? t('🗑️ A message of {who} was deleted in {channel}', { who: personText(only.author), channel: where })
      : t('🗑️ {count, plural, one {# message was} other {# messages were}} deleted in {channel}', {
          count,
          channel: where,
        });
  const first = `${head}${who}${why}`;
  if (!isOpen) return { text: `${first}\n${leftOut()}` };
  if (count > IN_MESSAGE) {
    const text = oldestFirst.map((one) => `${one.createdAt.toISOString()} ${plainOf(one)}`).join('\n');
    return { text: first, file: textFile(`deleted-${channel.id}.txt`, text) };
  }
  const lines = oldestFirst.map((one) => (count === 1 ? contentOf(one) : `${authorOf(one)}: ${contentOf(one)}`));
  return { text: [first, ...lines.map((line) => `> ${line}`)].join('\n') };
}

const authorOf = ({ author }: Deleted) => (author === null ? t('somebody') : personText(author));

function contentOf(message: Deleted): string {
  if (message.content === null) return t('(what it said is not known: it was sent before I could remember it)');
  const files = message.attachments.map(({ name }) => quoted(name, 60)).join(', ');
  const parts = [quoted(message.content), ...(files === '' ? [] : [t('[files: {files}]', { files })])];
  return parts.filter((part) => part !== '').join(' ') || t('(nothing but pictures or embeds)');
}

/** The line of a deleted message for a file, in which nothing is markup. */
function plainOf({ author, content, attachments }: Deleted): string {
  const who = author === null ? '?' : `${author.username} (${author.id})`;
  const files = attachments.map(({ name }) => `[${visible(name)}]`);
  return [`${who}:`, content === null ? t('(not known any more)') : visible(content), ...files].join(' ');
}
