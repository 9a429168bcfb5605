import { type Clock, compareIds, OLDEST_ID, type Registrar } from '@cinnabar/sdk';
import type { Client, MessageReaction, PartialMessageReaction, PartialUser, SendableChannels, User } from 'discord.js';
import { mayBotRead } from './access.js';
import { emojiKey, isHistory, toHeld } from './convert.js';
import type { Change } from './store/change-buffer.js';
import type { ChannelLog } from './store/channel-log.js';
import type { Logs } from './store/logs.js';

/**
 * Keeps the logs up to date from the gateway's events. A message in a channel that nobody has read costs one look-up.
 * Everything comes from the events themselves: what discord.js has cached does not matter.
 */
export function listen(on: Registrar['on'], logs: Logs): void {
  const tell = (channelId: string, change: Change) => logs.apply(channelId, change);

  on('messageCreate', (message) => {
    const log = logs.peek(message.channelId);
    if (log === undefined) return;
    if (isHistory(message)) tell(message.channelId, { kind: 'created', id: message.id, held: toHeld(message) });
    else log.heardOf(message.id);
  });
  on('messageUpdate', (_old, message) => {
    const log = logs.peek(message.channelId);
    // Without content it is not an edit, only a change of something that history does not show.
    if (log === undefined || message.partial || !isHistory(message)) return;
    tell(message.channelId, { kind: 'updated', id: message.id, held: toHeld(message) });
  });
  on('messageDelete', ({ id, channelId }) => tell(channelId, { kind: 'deleted', id }));
  on('messageDeleteBulk', (messages, channel) => {
    for (const id of messages.keys()) tell(channel.id, { kind: 'deleted', id });
  });

  const onReaction = (reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser, by: 1 | -1) => {
    const { id, channelId } = reaction.message;
    if (logs.peek(channelId) === undefined) return;
    const mine = user.id === user.client.user?.id;
    tell(channelId, { kind: 'reaction', id, key: emojiKey(reaction), name: reaction.emoji.name ?? '', by, mine });
  };
  on('messageReactionAdd', (reaction, user) => onReaction(reaction, user, 1));
  on('messageReactionRemove', (reaction, user) => onReaction(reaction, user, -1));
  on('messageReactionRemoveAll', ({ id, channelId }) => tell(channelId, { kind: 'unreacted', id }));
  on('messageReactionRemoveEmoji', (reaction) => {
    const { id, channelId } = reaction.message;
    tell(channelId, { kind: 'unreacted', id, key: emojiKey(reaction) });
  });
}

/** After this long, comparing a part says nothing about the rest. */
const LONGEST_DOUBT_MS = 10 * 60_000;

/**
 * Notices when events did not come: a gateway session that could not be resumed, a guild that was away, a channel that the bot could not see.
 * A lost session puts what is known in doubt: the next read fetches what was missed, and goes on from there once that fits.
 */
export function watchLosses(on: Registrar['on'], client: Client, clock: Clock, logs: Logs): void {
  /** Shards whose connection is down, since when, and what their channels had heard until then. */
  const down = new Map<number, { readonly since: number; readonly newest: ReadonlyMap<string, string> }>();
  const ofShard = (shardId: number) => [...logs.all()].filter((log) => log.shardId === shardId);
  const ofGuild = (guildId: string) => [...logs.all()].filter((log) => log.guildId === guildId);

  on('shardReconnecting', (shardId) => {
    if (down.has(shardId)) return;
    const newest = new Map(ofShard(shardId).map((log) => [log.channelId, log.newest]));
    down.set(shardId, { since: clock.now(), newest });
  });
  on('shardResume', (shardId) => down.delete(shardId));
  on('shardReady', (shardId) => {
    const loss = down.get(shardId);
    down.delete(shardId);
    for (const log of ofShard(shardId)) {
      const lastSure = loss?.newest.get(log.channelId);
      if (loss === undefined || lastSure === undefined || clock.now() - loss.since > LONGEST_DOUBT_MS) {
        logs.forget(log.channelId);
      } else log.doubt(lastSure);
    }
  });

  on('guildUnavailable', ({ id }) => {
    for (const log of ofGuild(id)) log.doubt(log.newest);
  });
  on('guildDelete', ({ id }) => {
    for (const log of ofGuild(id)) logs.forget(log.channelId);
  });
  on('channelDelete', ({ id }) => logs.forget(id));
  on('threadDelete', ({ id }) => logs.forget(id));

  // Where the bot may not look, events do not come: what was known is out of date once it may again.
  const forgetHidden = (hidden: readonly ChannelLog[]) => {
    for (const { channelId } of hidden) {
      const channel = client.channels.cache.get(channelId);
      if (channel === undefined || !channel.isSendable() || !mayBotRead(channel)) logs.forget(channelId);
    }
  };
  on('channelUpdate', (_old, channel) => {
    const log = logs.peek(channel.id);
    if (log === undefined) return;
    forgetHidden([log]);
    // Nobody tells of the moment at which a channel goes out of sight, but its return says how far it has come.
    if (channel.isSendable() && hasGap(log, channel)) log.doubt(log.newest);
  });
  on('roleUpdate', (_old, { guild }) => forgetHidden(ofGuild(guild.id)));
  on('roleDelete', ({ guild }) => forgetHidden(ofGuild(guild.id)));
  on('guildMemberUpdate', (_old, { id, guild }) => {
    if (id === client.user?.id) forgetHidden(ofGuild(guild.id));
  });
  on('threadMembersUpdate', (_added, removed, { id, guild }) => {
    if (guild.members.me !== null && removed.has(guild.members.me.id)) logs.forget(id);
  });
}

/**
 * Whether Discord has said more in a channel than the log was told of: while the plugin was disabled or paused, or before the channel came back
 * into view. Own messages do not count: discord.js has them from sending, before their event comes.
 */
export function hasGap(log: ChannelLog, channel: SendableChannels): boolean {
  const isNews = (id: string) => compareIds(id, log.newest) > 0;
  if (isNews(channel.lastMessageId ?? OLDEST_ID)) return true;
  const botId = channel.client.user.id;
  return channel.messages.cache.some(({ id, partial, author }) => isNews(id) && !partial && author.id !== botId);
}
