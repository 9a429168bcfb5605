import { formatDuration, t } from '@cinnabar/sdk';
import {
  AuditLogEvent,
  ChannelType,
  type Guild,
  type GuildBasedChannel,
  type GuildMember,
  type NonThreadGuildBasedChannel,
  type PartialGuildMember,
} from 'discord.js';
import { type EventLog, type LoggingContext, personText, quoted } from './event-log.js';

const ago = (at: number) => `<t:${Math.floor(at / 1_000)}:R>`;
const mentions = (ids: readonly string[]) => ids.map((id) => `<@&${id}>`).join(', ');

/** The changes of a member. */
interface Change {
  readonly userId: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The nickname before and now; `null`: none. */
  readonly nickname?: { readonly before: string | null; readonly now: string | null };
  readonly by: string | null;
  readonly reason: string | null;
}

/** Logs joins and leaves, and changes of roles and nicknames. */
export function logMembers({ on, client }: LoggingContext, eventLog: EventLog): void {
  on('guildMemberAdd', async ({ guild, user }) => {
    const place = await eventLog.placeOf(guild, 'joins');
    await eventLog.speaking(guild, () =>
      place?.add({
        text: t('📥 {who} joined. The account was created {when}.', {
          who: personText(user),
          when: ago(user.createdTimestamp),
        }),
      }),
    );
  });
  on('guildMemberRemove', async ({ guild, user, joinedTimestamp, roles }) => {
    const place = await eventLog.placeOf(guild, 'joins');
    await eventLog.speaking(guild, () => {
      const held = roles.cache.filter(({ id }) => id !== guild.id).map(({ id }) => id);
      const since = joinedTimestamp === null ? '' : ` ${t('They joined {when}.', { when: ago(joinedTimestamp) })}`;
      const had = held.length === 0 ? '' : ` ${t('Roles: {roles}', { roles: mentions(held) })}`;
      place?.add({ text: `${t('📤 {who} left.', { who: personText(user) })}${since}${had}` });
    });
  });

  const write = async (guild: Guild, change: Change) => {
    const place = await eventLog.placeOf(guild, 'memberChanges');
    if (place === undefined) return;
    const user = await client.users.fetch(change.userId).catch(() => undefined);
    await eventLog.speaking(guild, () => {
      const who = user === undefined ? `<@${change.userId}>` : personText(user);
      for (const text of changeTexts(change, who)) place.add({ text });
    });
  };

  // The audit log names the author, and needs no privileged intent. Without permission to read it, changes are logged from the member's update, without author.
  on('guildAuditLogEntryCreate', async ({ action, targetId, executorId, reason, changes }, guild) => {
    if (targetId === null) return;
    const of = { userId: targetId, by: executorId, reason };
    if (action === AuditLogEvent.MemberRoleUpdate) {
      const ids = (key: string) => changes.filter((one) => one.key === key).flatMap((one) => idsIn(one.new));
      await write(guild, { ...of, added: ids('$add'), removed: ids('$remove') });
    }
    const nick = action === AuditLogEvent.MemberUpdate ? changes.find(({ key }) => key === 'nick') : undefined;
    if (nick === undefined) return;
    await write(guild, {
      ...of,
      added: [],
      removed: [],
      nickname: { before: textIn(nick.old), now: textIn(nick.new) },
    });
  });
  on('guildMemberUpdate', async (before, now) => {
    if (before.partial || now.guild.members.me?.permissions.has('ViewAuditLog') === true) return;
    const change = changeOf(before, now);
    if (change !== undefined) await write(now.guild, change);
  });
}

function changeOf(before: GuildMember | PartialGuildMember, now: GuildMember): Change | undefined {
  const [old, current] = [[...before.roles.cache.keys()], [...now.roles.cache.keys()]];
  const added = current.filter((id) => !old.includes(id));
  const removed = old.filter((id) => !current.includes(id));
  const isRenamed = before.nickname !== now.nickname;
  if (added.length === 0 && removed.length === 0 && !isRenamed) return undefined;
  return {
    userId: now.id,
    added,
    removed,
    ...(isRenamed ? { nickname: { before: before.nickname, now: now.nickname } } : {}),
    by: null,
    reason: null,
  };
}

function changeTexts({ userId, added, removed, nickname, by, reason }: Change, who: string): readonly string[] {
  const author = by === null || by === userId ? '' : ` ${t('by {who}', { who: `<@${by}>` })}`;
  const end = `${author}${reason === null ? '' : ` (${quoted(reason, 150)})`}`;
  const name = (text: string | null) => (text === null ? t('no nickname') : quoted(text, 40));
  return [
    ...(added.length === 0 ? [] : [`${t('🏷️ {who} got {roles}', { who, roles: mentions(added) })}${end}`]),
    ...(removed.length === 0 ? [] : [`${t('🏷️ {who} lost {roles}', { who, roles: mentions(removed) })}${end}`]),
    ...(nickname === undefined
      ? []
      : [
          `${t('📝 The nickname of {who}: {before} → {now}', { who, before: name(nickname.before), now: name(nickname.now) })}${end}`,
        ]),
  ];
}

/** The ids of the roles that a change of the audit log lists. */
function idsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'id' in one && typeof one.id === 'string' ? [one.id] : [],
  );
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Logs created, changed and deleted channels, and joins and leaves of voice channels. */
export function logChannels({ on }: LoggingContext, eventLog: EventLog): void {
  /** Omits the name of a channel that some readers of the log cannot see. */
  const write = async (
    channel: NonThreadGuildBasedChannel,
    told: boolean,
    text: (name: string, isOpen: boolean) => string | undefined,
  ) => {
    const { guild } = channel;
    const place = await eventLog.placeOf(guild, 'channels', channel);
    if (place === undefined) return;
    const isOpen = told || place.isOpen(channel);
    await eventLog.speaking(guild, () => {
      const line = text(isOpen ? nameOf(channel) : t('A channel that not all who read this can see'), isOpen);
      if (line !== undefined) place.add({ text: line });
    });
  };

  on('channelCreate', (channel) => write(channel, false, (name) => t('➕ {name} was created.', { name })));
  on('channelDelete', (channel) => {
    if (channel.isDMBased()) return;
    // The host cannot look up a deleted channel, so only changes that @everyone could see are logged with its name.
    return write(channel, isOpenToAll(channel), (name) => t('➖ {name} was deleted.', { name }));
  });
  on('channelUpdate', (before, now) => {
    if (before.isDMBased() || now.isDMBased()) return;
    return write(now, false, (name, isOpen) => {
      const changes = changesOf(before, now);
      if (changes.length > 0 && !isOpen) return t('🔧 {name} was changed.', { name });
      return changes.length === 0 ? undefined : t('🔧 {name}: {changes}', { name, changes: changes.join(' · ') });
    });
  });

  on('voiceStateUpdate', async (before, now) => {
    const { guild, member } = now;
    if (before.channelId === now.channelId || member === null) return;
    const channels = [before.channel, now.channel].filter((channel) => channel !== null);
    for (const channel of channels) {
      const place = await eventLog.placeOf(guild, 'voice', channel);
      if (place?.isOpen(channel) !== true) return;
      if (channel !== channels.at(-1)) continue;
      await eventLog.speaking(guild, () =>
        place.add({ text: voiceText(personText(member.user), before.channelId, now.channelId) }),
      );
    }
  });
}

function isOpenToAll(channel: NonThreadGuildBasedChannel): boolean {
  return channel.permissionsFor(channel.guild.roles.everyone).has('ViewChannel');
}

function nameOf(channel: GuildBasedChannel): string {
  const name = quoted(channel.name, 100);
  return channel.type === ChannelType.GuildCategory
    ? t('The category **{name}**', { name })
    : `**#${name}** (<#${channel.id}>)`;
}

function voiceText(who: string, from: string | null, to: string | null): string {
  if (from === null) return t('🔊 {who} joined {channel}.', { who, channel: `<#${to}>` });
  if (to === null) return t('🔈 {who} left {channel}.', { who, channel: `<#${from}>` });
  return t('🔀 {who} went from {from} to {to}.', { who, from: `<#${from}>`, to: `<#${to}>` });
}

/** The changes of a channel as sentences. */
function changesOf(before: NonThreadGuildBasedChannel, now: NonThreadGuildBasedChannel): readonly string[] {
  const topics = [before, now].map((channel) => ('topic' in channel ? (channel.topic ?? '') : ''));
  const slow = [before, now].map((channel) => ('rateLimitPerUser' in channel ? (channel.rateLimitPerUser ?? 0) : 0));
  const [oldTopic = '', newTopic = ''] = topics;
  const [oldSlow = 0, newSlow = 0] = slow;
  const isOther = overwritesOf(before) !== overwritesOf(now);
  return [
    ...(before.name === now.name ? [] : [t('was called {name} before', { name: quoted(before.name, 100) })]),
    ...(oldTopic === newTopic
      ? []
      : [t('topic: {topic}', { topic: newTopic === '' ? t('none') : quoted(newTopic, 200) })]),
    ...(oldSlow === newSlow ? [] : [t('slow mode: {duration}', { duration: formatDuration(newSlow * 1_000) })]),
    ...(before.parentId === now.parentId ? [] : [t('moved to another category')]),
    ...(isOther ? [t('other permissions')] : []),
  ];
}

function overwritesOf({ permissionOverwrites }: NonThreadGuildBasedChannel): string {
  return permissionOverwrites.cache
    .map(({ id, allow, deny }) => `${id} ${allow.bitfield} ${deny.bitfield}`)
    .sort()
    .join('\n');
}
