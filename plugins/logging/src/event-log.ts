import {
  Access,
  Clock,
  findSendableIn,
  isRefusal,
  Languages,
  noticeMessages,
  type PluginContext,
  Provenance,
  plainText,
  Random,
  sendOnce,
  type TextMessage,
  t,
  visible,
  z,
} from '@cinnabar/sdk';
import type { Guild, GuildBasedChannel, PartialUser, User } from 'discord.js';

/** The kinds of entries, each with the setting of its own channel; the setting with the kind's name switches it on. */
export const KINDS = {
  edits: 'messageChannel',
  deletions: 'messageChannel',
  joins: 'memberChannel',
  memberChanges: 'memberChannel',
  channels: 'channelChannel',
  voice: 'voiceChannel',
} as const;
export type Kind = keyof typeof KINDS;

const place = (what: string) =>
  z.string().optional().describe(`Where ${what} logged, if not in \`channel\``).meta({ kind: 'channel' });
const shown = (what: string, byDefault = true) => z.boolean().default(byDefault).describe(`Whether ${what} logged`);

export const settings = {
  guild: z.object({
    channel: z.string().optional().describe('The channel in which everything is logged').meta({ kind: 'channel' }),
    messageChannel: place('edits and deletions are'),
    memberChannel: place('joins, leaves, roles and nicknames are'),
    channelChannel: place('changes of channels are'),
    voiceChannel: place('voice channels are'),
    edits: shown('edited messages are'),
    deletions: shown('deleted messages are'),
    joins: shown('joins and leaves are'),
    memberChanges: shown('changes of roles and nicknames are'),
    channels: shown('created, changed and deleted channels are'),
    voice: shown('joining and leaving voice channels is', false),
    bots: shown('messages of bots are', false),
    ignored: z
      .array(z.string().meta({ kind: 'channel' }))
      .max(100)
      .default([])
      .describe('Channels, and categories, of which nothing is logged'),
  }),
};

export const inject = { access: Access, clock: Clock, languages: Languages, provenance: Provenance, random: Random };

export type LoggingContext = PluginContext<typeof settings, Record<never, never>, typeof inject>;

/** Entries within this time are sent together. */
const BATCH_MS = 2_000;
/** Maximum for one log channel and batch; further entries are only counted. */
const MOST_ENTRIES = 100;

export interface Entry {
  readonly text: string;
  readonly file?: NonNullable<TextMessage['files']>[number];
}

interface Batch {
  readonly guildId: string;
  readonly entries: Entry[];
  dropped: number;
}

/** The current log channel for one kind of entries in a guild. */
interface LogPlace {
  readonly channelId: string;
  /** Whether every reader of the log channel can read the other channel, too. */
  isOpen(channel: GuildBasedChannel): boolean;
  add(entry: Entry): void;
}

/** Writes entries to the channels that a guild has chosen, in batches, so that a raid does not flood them. */
export function createEventLog({ client, settings, services, after, defer, log, signal }: LoggingContext) {
  const { clock, languages, provenance, random } = services;
  const batches = new Map<string, Batch>();
  const failing = new Set<string>();

  const send = async (channelId: string, { guildId, entries, dropped }: Batch): Promise<void> => {
    const channel = await findSendableIn(client, guildId, channelId);
    if (channel === undefined) return;
    const more =
      dropped === 0 ? [] : [t('… and {dropped, plural, one {# more entry} other {# more entries}}', { dropped })];
    const text = [...entries.map((entry) => entry.text), ...more].join('\n');
    const files = entries.flatMap(({ file }) => file ?? []).slice(0, 10);
    const parts = noticeMessages(text);
    for (const [index, part] of parts.entries()) {
      const all = [...(part.files ?? []), ...(index === parts.length - 1 ? files : [])];
      const message = { ...part, files: all, allowedMentions: { parse: [] } };
      await sendOnce(channel, message, `log:${random.id()}`, { clock, signal });
    }
  };

  const flush = async (channelId: string) => {
    const batch = batches.get(channelId);
    batches.delete(channelId);
    if (batch === undefined) return;
    try {
      await languages.speak({ guildId: batch.guildId }, () => send(channelId, batch));
      failing.delete(channelId);
    } catch (error) {
      // Warns once until a batch succeeds, so that one server cannot fill the log.
      if (!failing.has(channelId))
        log.warn('a log channel takes no entries', { channelId, error, refused: isRefusal(error) });
      failing.add(channelId);
    }
  };
  defer(() => Promise.all([...batches.keys()].map(flush)));

  const add = (guildId: string, channelId: string, entry: Entry) => {
    const batch = batches.get(channelId) ?? { guildId, entries: [], dropped: 0 };
    if (!batches.has(channelId)) {
      batches.set(channelId, batch);
      after(BATCH_MS, () => flush(channelId));
    }
    if (batch.entries.length < MOST_ENTRIES) batch.entries.push(entry);
    else batch.dropped += 1;
  };

  return {
    /**
     * The log channel for entries of a kind; `undefined` when the kind is switched off.
     * @param source the channel that the entry is about: ignored channels, and the log channel itself, are not logged
     */
    async placeOf(guild: Guild, kind: Kind, source?: GuildBasedChannel): Promise<LogPlace | undefined> {
      const chosen = await settings.guild(guild).get();
      const channelId = chosen[KINDS[kind]] ?? chosen.channel;
      if (!chosen[kind] || channelId === undefined || source?.id === channelId) return undefined;
      if (source !== undefined && isIgnored(source, chosen.ignored)) return undefined;
      return {
        channelId,
        isOpen: (channel) =>
          provenance.mayTell([{ guildId: guild.id, channelId: channel.id }], { guildId: guild.id, channelId }),
        add: (entry) => add(guild.id, channelId, entry),
      };
    },
    /** Runs a task in the language of the guild. */
    speaking: <T>(guild: Guild, task: () => T | Promise<T>): Promise<T> => languages.speak({ guildId: guild.id }, task),
  };
}
export type EventLog = ReturnType<typeof createEventLog>;

/** A thread is ignored with its channel, a channel with its category. */
function isIgnored(channel: GuildBasedChannel, ignored: readonly string[]): boolean {
  const parents = [channel.id, channel.parentId, channel.parent?.parentId];
  return parents.some((id) => typeof id === 'string' && ignored.includes(id));
}

/** A member's text on one line, without hidden characters and markup, cut to `longest` characters. */
export function quoted(text: string, longest = 400): string {
  const characters = [...visible(text)];
  const shown = characters.length > longest ? `${characters.slice(0, longest).join('')}…` : characters.join('');
  return plainText(shown);
}

/** "alice (@alice)": the name stays readable after the member has left; until then the mention is a link. */
export function personText(user: User | PartialUser): string {
  return user.username === null ? `<@${user.id}>` : `**${plainText(visible(user.username))}** (<@${user.id}>)`;
}
