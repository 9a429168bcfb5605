import type { Clock, OwnerAlert } from '@cinnabar/sdk';
import type { GatewayStatus } from './status.js';

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
