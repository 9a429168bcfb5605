import {
  asNotice,
  createRateLimiter,
  findSendableIn,
  isUnreachable,
  sendOnce,
  t,
  translated,
  unlessUnreachable,
  type z,
} from '@cinnabar/sdk';
import type { Guild, GuildMember, PartialGuildMember, SendableChannels } from 'discord.js';
import { type Arrival, fillIn, type Kind, type settings as schemas, TEXTS, type WelcomeContext } from './context.js';

type Values = z.output<typeof schemas.guild>;

const WINDOW_MS = 60_000;
/** Maximum number of members, of all guilds, who have not accepted the rules yet. */
const MOST_WAITING = 10_000;

/** Greets new members and says goodbye to those who leave: each once, up to the guild's limit per minute. */
export function watchArrivals({ on, after, client, settings, services, log }: WelcomeContext): void {
  const { clock, languages, random } = services;
  const limiter = createRateLimiter(clock, WINDOW_MS);
  const turns = new Map<string, number>();
  /** Number of suppressed messages by guild and kind, until the minute ends. */
  const left = new Map<string, number>();
  const waiting = new Set<string>();

  /** The next of the guild's texts, in rotation from a random start. */
  const nextOf = (guild: Guild, kind: Kind, texts: readonly string[]): string | undefined => {
    const key = `${guild.id}:${kind}`;
    const turn = turns.get(key) ?? Math.floor(random.next() * texts.length);
    turns.set(key, turn + 1);
    return texts[turn % texts.length];
  };

  /** A filled-in text; the plugin's own texts are in the guild's language. */
  const written = (member: GuildMember | PartialGuildMember, text: string): Promise<string> =>
    languages.speak({ guildId: member.guild.id }, () => fillIn(translated(text), arrivalOf(member)));

  /** Counts a message against the limit of this minute. @returns `false` above the limit: then the summary at the minute's end counts the member */
  const isAdmitted = (guild: Guild, kind: 'greeting' | 'goodbye', channelId: string, most: number): boolean => {
    const key = `${guild.id}:${kind}`;
    if (limiter.take(key, most) === undefined) return true;
    const count = left.get(key);
    left.set(key, (count ?? 0) + 1);
    if (count === undefined) after(WINDOW_MS, () => summarise(guild, kind, channelId));
    return false;
  };

  const summarise = async (guild: Guild, kind: 'greeting' | 'goodbye', channelId: string): Promise<void> => {
    const key = `${guild.id}:${kind}`;
    const count = left.get(key) ?? 0;
    left.delete(key);
    const text = await languages.speak({ guildId: guild.id }, () =>
      kind === 'greeting'
        ? t('{count, plural, one {# more member has joined.} other {# more members have joined.}}', { count })
        : t('{count, plural, one {# more member has left.} other {# more members have left.}}', { count }),
    );
    await sayIn(guild, channelId, asNotice(text), `${key}:${clock.now()}`);
  };

  const sayIn = async (
    { id }: Guild,
    channelId: string,
    content: string,
    key: string,
    pinged: readonly string[] = [],
  ): Promise<void> => {
    const channel = await findSendableIn(client, id, channelId);
    if (channel === undefined)
      return log.info('a greeting was not posted: its channel is gone, or closed to the bot', { channelId });
    return say(channel, content, key, pinged);
  };

  const say = async (
    channel: SendableChannels,
    content: string,
    key: string,
    pinged: readonly string[] = [],
  ): Promise<void> => {
    const message = { content, allowedMentions: { parse: [], users: [...pinged] } };
    try {
      await sendOnce(channel, message, key, { clock });
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      log.warn('a greeting was not posted', { channelId: channel.id, error });
    }
  };

  const greet = async (member: GuildMember): Promise<void> => {
    const values = await settings.guild(member.guild).get();
    const key = `welcome:${idOf(member)}:${member.joinedTimestamp ?? 0}`;
    const isSaid = values.channel === undefined || (await greetIn(values.channel, member, values, key));
    // Members in the summary get no direct message either, because Discord disables bots that send many.
    if (isSaid && !member.user.bot) await greetDirectly(member, values, key);
  };

  /** @returns `false` when the summary at the minute's end counts the member instead */
  const greetIn = async (channelId: string, member: GuildMember, values: Values, key: string): Promise<boolean> => {
    const kind = member.user.bot ? 'bot' : 'greeting';
    const text = nextOf(member.guild, kind, values[TEXTS[kind]]);
    if (text === undefined) return true;
    if (!isAdmitted(member.guild, 'greeting', channelId, values.mostPerMinute)) return false;
    const pinged = values.mention && !member.user.bot ? [member.id] : [];
    await sayIn(member.guild, channelId, await written(member, text), key, pinged);
    return true;
  };

  const greetDirectly = async (member: GuildMember, values: Values, key: string): Promise<void> => {
    const text = nextOf(member.guild, 'direct', values.directs);
    if (text === undefined || limiter.take(`${member.guild.id}:direct`, values.mostPerMinute) !== undefined) return;
    const channel = await unlessUnreachable(member.createDM());
    if (channel !== undefined) await say(channel, await written(member, text), `${key}:direct`);
  };

  on('guildMemberAdd', async (member) => {
    const { channel, directs, afterScreening } = await settings.guild(member.guild).get();
    if (channel === undefined && directs.length === 0) return;
    if (!member.pending || !afterScreening || member.user.bot) return greet(member);
    const [oldest] = waiting;
    if (waiting.size >= MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
    waiting.add(idOf(member));
  });

  on('guildMemberUpdate', async (_before, member) => {
    if (!member.pending && waiting.delete(idOf(member))) await greet(member);
  });

  on('guildMemberRemove', async (member) => {
    const { guild } = member;
    // A member who was never admitted was not greeted.
    if (waiting.delete(idOf(member))) return;
    const { goodbyeChannel, goodbyes, mostPerMinute } = await settings.guild(guild).get();
    if (goodbyeChannel === undefined || member.user.bot) return;
    const text = nextOf(guild, 'goodbye', goodbyes);
    if (text === undefined || !isAdmitted(guild, 'goodbye', goodbyeChannel, mostPerMinute)) return;
    const key = `goodbye:${guild.id}:${member.id}:${clock.now()}`;
    await sayIn(guild, goodbyeChannel, await written(member, text), key);
  });
}

const idOf = ({ guild, id }: GuildMember | PartialGuildMember): string => `${guild.id}:${id}`;

export function arrivalOf({ guild, id, displayName }: GuildMember | PartialGuildMember): Arrival {
  return { memberId: id, name: displayName, server: guild.name, count: guild.memberCount };
}
