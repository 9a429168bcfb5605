import type { Clock, Registrar } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { mayBotRead } from '../access/permissions.js';
import type { ChannelLog } from '../store/log.js';
import type { Logs } from '../store/logs.js';
import { hasGap } from './gap.js';

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
