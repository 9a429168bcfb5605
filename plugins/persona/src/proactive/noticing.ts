import { type Disposer, isOwnMessage, type Registrar, sanitizeName } from '@cinnabar/sdk';
import { type GuildMember, MessageType } from 'discord.js';
import { type Allowance, livesIn, runUnasked, type UnaskedParts } from './unasked-runs.js';

const REMEMBERED = 200;

export interface Joins {
  /** Whether any guild wants it: only then are messages looked at for it. */
  watch(isWanted: boolean): Promise<void>;
}

/**
 * Notices new members, in the home channel. Discord tells of them by an event, where the bot may receive those (a privileged intent, which this
 * plugin does not ask for), and by a message in the guild's system channel.
 */
export function noticeJoins(
  { on }: Pick<Registrar, 'on'>,
  parts: UnaskedParts & { readonly allowance: Allowance },
): Joins {
  const noticed = new Set<string>();

  const notice = async (member: GuildMember) => {
    const { guild, user } = member;
    const key = `${guild.id}:${user.id}:${member.joinedTimestamp}`;
    if (user.bot || noticed.has(key)) return;
    noticed.add(key);
    for (const oldest of noticed.size > REMEMBERED ? [...noticed].slice(0, 1) : []) noticed.delete(oldest);
    const settings = await parts.settingsFor(guild.id);
    if (!settings.onJoin || settings.home === undefined) return;
    const home = guild.channels.cache.get(settings.home);
    if (home?.isSendable() !== true || !(await livesIn(home, parts))) return;
    if (!(await parts.allowance.take(guild.id, settings))) return;
    const name = sanitizeName(member.displayName) || sanitizeName(user.username) || 'someone';
    const contact = { userId: user.id, name };
    await runUnasked(
      { type: 'member_joined', content: `${name} has joined.`, at: parts.clock.now(), member: contact },
      home,
      parts,
    );
  };

  on('guildMemberAdd', notice);
  let stopWatching: Disposer | undefined;
  return {
    async watch(isWanted) {
      if (isWanted === (stopWatching !== undefined)) return;
      const stop = stopWatching;
      stopWatching = isWanted
        ? on('messageCreate', (message) =>
            message.type === MessageType.UserJoin && message.member !== null ? notice(message.member) : undefined,
          )
        : undefined;
      await stop?.();
    },
  };
}

/** Notices what people think of what the persona has said. */
export function noticeReactions(
  { on }: Pick<Registrar, 'on'>,
  parts: UnaskedParts & { readonly allowance: Allowance },
): void {
  on('messageReactionAdd', async ({ message, emoji }, user) => {
    const { guildId, channelId, channel } = message;
    if (guildId === null || user.bot === true || !channel.isSendable()) return;
    // Most reactions are to what people say: those cost no look at the settings.
    if (message.author != null && !isOwnMessage(message)) return;
    const settings = await parts.settingsFor(guildId);
    if (!settings.onReaction) return;
    const { lines } = await parts.conversations.read(channelId);
    const line = lines.find(({ userId, messageIds }) => userId === null && messageIds.includes(message.id));
    if (line === undefined || !(await livesIn(channel, parts))) return;
    if (!(await parts.allowance.take(guildId, settings))) return;
    const member = message.guild?.members.cache.get(user.id);
    const name = sanitizeName(member?.displayName ?? user.displayName ?? '') || 'someone';
    const trigger = {
      type: 'reaction',
      content: line.text,
      at: parts.clock.now(),
      by: { userId: user.id, name },
      emoji: (emoji.name ?? 'an emoji').slice(0, 40),
      messageId: message.id,
    } as const;
    await runUnasked(trigger, channel, parts);
  });
}
