import type { Clock, Logger, OwnerAlert } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { GatewayChange, GatewayStatus } from './status.js';

/** A connection that is back sooner is worth no warning. */
const WARN_FROM_ATTEMPT = 2;
/** All shards together; in between only the files have it. */
const WARN_EVERY_MS = 30_000;

/**
 * Logs what becomes of the connections to Discord: every change in the files, and while the bot is not ready a warning now and then that says
 * since when, why, and when it tries again.
 * @returns a function that ends it: the connections that a clean stop closes are no news
 */
export function logConnections(client: Client, status: GatewayStatus, clock: Clock, log: Logger): () => void {
  // Without a listener discord.js's own errors would end the process: this one stays.
  client.on('error', (error) => log.error('discord.js reported an error', { error }));

  let warnedAt: number | undefined;
  const warn = (cause: string, retryInMs: number) => {
    const now = clock.now();
    if (warnedAt !== undefined && now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const since = timeOf(status.notReadySince ?? now);
    log.warn(`Discord: not ready since ${since} (${cause}); trying again in ${seconds(retryInMs)}`);
  };

  const onChange = (change: GatewayChange) => {
    switch (change.kind) {
      case 'connecting':
        log.debug('connecting to the gateway', { shard: change.shard.id, attempt: change.shard.attempts });
        return;
      case 'unreachable':
        warn(change.detail, change.retryInMs);
        return;
      case 'closed': {
        const { shard, close, retryInMs } = change;
        const { code, reason } = close;
        log.info('a gateway connection was closed', { shard: shard.id, code, reason, retryInMs });
        const away = status.shards.filter(({ state }) => state !== 'ready').length;
        const which = status.shards.length > 1 ? `${away} of ${status.shards.length} shards; ` : '';
        const cause = `${which}code ${code}${reason === '' ? '' : `: ${reason}`}`;
        if (retryInMs !== undefined && shard.attempts >= WARN_FROM_ATTEMPT) warn(cause, retryInMs);
        return;
      }
      case 'ready': {
        const { shard, resumed, awayMs } = change;
        log.info(`a gateway connection is ready`, { shard: shard.id, resumed, awayMs });
        if (warnedAt === undefined || !status.ready) return;
        warnedAt = undefined;
        log.warn(`Discord: ready again after ${seconds(awayMs)}`);
      }
    }
  };
  return status.onChange(onChange);
}

/** As the terminal's entries show the time. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** Discord's own hiccups are over sooner. */
const AWAY_MS = 5 * 60_000;

/**
 * Alerts the bot's owners when not every shard has been ready for five minutes. The log has it at once; the message is sent when Discord can be
 * reached, which its REST interface often can while the gateway cannot.
 * @returns a function that ends it
 */
export function alertOfAbsence(status: GatewayStatus, clock: Clock, alert: (alert: OwnerAlert) => void): () => void {
  let alertedSince: number | undefined;
  let cancel: () => void = () => undefined;

  const look = () => {
    cancel();
    const since = status.notReadySince;
    if (since === undefined || since === alertedSince) return;
    const leftMs = since + AWAY_MS - clock.now();
    if (leftMs > 0) {
      cancel = clock.after(leftMs, look);
      return;
    }
    alertedSince = since;
    const { lastClose, shards } = status;
    const away = shards.filter(({ state }) => state !== 'ready').length;
    const who = shards.length > 1 ? `${away} of ${shards.length} shards were` : 'The bot was';
    const from = `<t:${Math.floor(since / 1000)}:f>`;
    const why = lastClose === undefined ? '' : ` (last close: ${`${lastClose.code} ${lastClose.reason}`.trim()})`;
    alert({
      kind: 'gateway-away',
      text: `${who} without a connection to Discord's gateway for more than 5 minutes, from ${from} on${why}.`,
      remedy:
        'The bot goes on trying by itself. Look at https://discordstatus.com; when Discord is well, look at the network of the machine.',
    });
  };

  const stop = status.onChange(look);
  look();
  return () => {
    stop();
    cancel();
  };
}
