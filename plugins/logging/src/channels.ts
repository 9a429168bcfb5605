import { formatDuration, t } from '@cinnabar/sdk';
import { ChannelType, type GuildBasedChannel, type NonThreadGuildBasedChannel } from 'discord.js';
import type { EventLog } from './event-log.js';
import type { LoggingContext } from './settings.js';
import { personText, quoted } from './text.js';

/** Logs what becomes of channels, and who comes and goes in voice channels. */
export function logChannels({ on }: LoggingContext, eventLog: EventLog): void {
  /** The name of a channel that not all readers of the log can see is not for them. */
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
    // The host can no longer look the channel up: only what @everyone could see is logged.
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

/** What of a channel has changed, in words. */
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
