import type { LocalChannel, LocalDiscord, LocalGuild, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { ChannelType, MessageFlags, PermissionFlagsBits } from 'discord.js';

const { Administrator, Connect, ManageThreads, ReadMessageHistory, ViewChannel } = PermissionFlagsBits;
const WHILE_TIMED_OUT = ViewChannel | ReadMessageHistory;
/** Also matches after letters, since JSON contains `\\n`; the zeros of a serial number distinguish it from random ids. */
const MARKER = /mk00[0-9a-z]{4}q/g;

/** The place in which a word is repeated. */
export interface Told {
  /** Messages of this channel may be repeated here to everyone who sees the channel, also without access to its history. */
  readonly channel?: LocalChannel | undefined;
  /** The message or thread that repeats it, which does not count as a source. */
  readonly message?: LocalMessage;
  readonly thread?: LocalChannel;
}

/** The information in a report of a leak. */
export interface Leak {
  readonly marker: string;
  readonly where: string;
  readonly reader: LocalUser;
}

/**
 * Knows the messages and names that contain each unique word, and whether each member's own client shows them at the moment. It reads only the local Discord's
 * state, and follows Discord's documentation of permissions instead of the bot's code.
 */
export interface Oracle {
  /** A new unique word. */
  mint(): string;
  /** Records that a word is in the name or topic of a place. */
  nameOf(place: LocalChannel | LocalGuild, marker: string): void;
  sees(user: LocalUser, channel: LocalChannel): boolean;
  /** Whether the user's client shows the word's message or place now; an edited message counts with its earlier words, too. */
  mayRead(user: LocalUser, marker: string, at?: Told): boolean;
  /** The users whose clients show a message, without bots. */
  viewersOf(message: LocalMessage): readonly LocalUser[];
  /** Words of a text that one of these users may not read, each with that user. */
  leaksIn(text: string, readers: readonly LocalUser[], where: string, at?: Told): readonly Leak[];
  /** The origin of a word: a message's author and channel, or a place. */
  originOf(marker: string): { readonly author?: string; readonly channel?: LocalChannel; readonly text: string };
  /** Words whose first author is this member. */
  wordsOf(user: LocalUser): readonly string[];
}

export const markersIn = (text: string): readonly string[] => [...new Set(text.match(MARKER))];

/** The content of a message that a client shows or offers to open. */
export function textOf({ content, embeds, components, attachments }: LocalMessage): string {
  const files = attachments.map(({ data, filename }) => `${filename}\n${Buffer.from(data).toString('utf8')}`);
  return [content, JSON.stringify(embeds), JSON.stringify(components), ...files].join('\n');
}

export function createOracle(discord: LocalDiscord, serial: () => number): Oracle {
  /** All messages that contained a word. */
  const carriers = new Map<string, Set<LocalMessage>>();
  const places = new Map<string, LocalChannel | LocalGuild>();
  /** Threads that the bot named after a question: all who see the thread may read its name. */
  const titles = new Map<string, LocalChannel>();
  /** The users whose client showed a message when it was sent: they do not need access to the history. */
  const present = new WeakMap<LocalMessage, ReadonlySet<string>>();

  discord.observe((event) => {
    if (event.type === 'channelCreate')
      for (const marker of markersIn(event.channel.name)) titles.set(marker, event.channel);
    if (event.type !== 'messageCreate' && event.type !== 'messageEdit') return;
    const { message } = event;
    if (!present.has(message)) {
      present.set(
        message,
        new Set(
          peopleOf(message.channel)
            .filter((user) => sees(user, message.channel))
            .map(idOf),
        ),
      );
    }
    for (const marker of markersIn(textOf(message))) {
      const known = carriers.get(marker);
      if (known === undefined) carriers.set(marker, new Set([message]));
      else known.add(message);
    }
  });

  const sees = (user: LocalUser, channel: LocalChannel) =>
    (permissionsOf(channel, user, discord.clock.now()) & ViewChannel) !== 0n;

  const shows = (user: LocalUser, message: LocalMessage, at: LocalChannel | undefined): boolean => {
    const { channel, visibleTo } = message;
    if (message.deleted || (message.flags & MessageFlags.Loading) !== 0) return false;
    if (visibleTo !== undefined) return visibleTo === user;
    if (!sees(user, channel)) return false;
    if (channel === at) return true;
    const history = (permissionsOf(channel, user, discord.clock.now()) & ReadMessageHistory) !== 0n;
    return history || present.get(message)?.has(user.id) === true;
  };

  const oracle: Oracle = {
    mint: () => `mk${serial().toString(36).padStart(6, '0')}q`,
    nameOf: (place, marker) => void places.set(marker, place),
    sees,
    mayRead(user, marker, at = {}) {
      const place = places.get(marker);
      if (place !== undefined && ('members' in place ? place.members.has(user.id) : sees(user, place))) return true;
      const title = titles.get(marker);
      if (title !== undefined && title !== at.thread && sees(user, title)) return true;
      const found = carriers.get(marker) ?? [];
      return [...found].some((message) => message !== at.message && shows(user, message, at.channel));
    },
    viewersOf(message) {
      if (message.visibleTo !== undefined) return [message.visibleTo];
      return peopleOf(message.channel).filter((user) => sees(user, message.channel));
    },
    leaksIn(text, readers, where, at) {
      return markersIn(text).flatMap((marker) => {
        const reader = readers.find((one) => !oracle.mayRead(one, marker, at));
        return reader === undefined ? [] : [{ marker, where, reader }];
      });
    },
    originOf(marker) {
      const place = places.get(marker);
      if (place !== undefined) return 'members' in place ? { text: place.name } : { channel: place, text: place.name };
      const [first] = carriers.get(marker) ?? [];
      if (first === undefined) return { text: 'nowhere' };
      const gone = first.deleted || first.channel.deleted ? ' (deleted)' : '';
      return { author: first.author.id, channel: first.channel, text: `${first.content}${gone}` };
    },
    wordsOf: (user) => [...carriers.keys()].filter((marker) => oracle.originOf(marker).author === user.id),
  };
  return oracle;
}

const idOf = ({ id }: { readonly id: string }) => id;

function peopleOf({ guild, recipients }: LocalChannel): readonly LocalUser[] {
  const all = guild === undefined ? recipients : [...guild.members.values()].map(({ user }) => user);
  return all.filter(({ bot }) => !bot);
}

/**
 * The permissions of a user in a channel, according to https://discord.com/developers/docs/topics/permissions; without ViewChannel when they cannot read its
 * messages: in a private thread that they have not joined, and in a voice channel that they may not join.
 */
function permissionsOf(channel: LocalChannel, user: LocalUser, now: number): bigint {
  const { guild, parent, thread, recipients } = channel;
  if (guild === undefined) return recipients.includes(user) ? ViewChannel | ReadMessageHistory : 0n;
  const member = guild.members.get(user.id);
  const home = thread === undefined ? channel : parent;
  if (member === undefined || home === undefined || channel.deleted || home.deleted) return 0n;
  if (guild.ownerId === user.id) return ~0n;
  let bits = [...member.roles].reduce((all, { permissions }) => all | permissions, guild.everyone.permissions);
  if (bits & Administrator) return ~0n;
  const overwrites = [...home.overwrites.values()];
  const apply = (allow: bigint, deny: bigint) => {
    bits = (bits & ~deny) | allow;
  };
  const ofEveryone = home.overwrites.get(guild.id);
  if (ofEveryone !== undefined) apply(ofEveryone.allow, ofEveryone.deny);
  const ofRoles = overwrites.filter(({ id }) => [...member.roles].some((role) => role.id === id));
  apply(
    ofRoles.reduce((all, { allow }) => all | allow, 0n),
    ofRoles.reduce((all, { deny }) => all | deny, 0n),
  );
  const own = home.overwrites.get(user.id);
  if (own !== undefined) apply(own.allow, own.deny);
  if (member.timedOutUntil !== null && member.timedOutUntil > now) bits &= WHILE_TIMED_OUT;
  return isShut(channel, user, bits) ? 0n : bits;
}

function isShut({ type, thread }: LocalChannel, { id }: LocalUser, bits: bigint): boolean {
  if (!(bits & ViewChannel)) return true;
  if (type === ChannelType.GuildVoice) return !(bits & Connect);
  return type === ChannelType.PrivateThread && !thread?.members.has(id) && !(bits & ManageThreads);
}
