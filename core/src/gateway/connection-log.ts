import type { Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';

/**
 * Logs what becomes of the gateway connections.
 * @returns a function that ends it: the connections that a clean stop closes are no news
 */
export function tellOfConnections(client: Client, log: Logger): () => void {
  // Without a listener discord.js's own errors would end the process: this one stays.
  client.on('error', (error) => log.error('discord.js reported an error', { error }));

  const onError = (error: Error, shard: number) => log.warn('a gateway connection failed', { error, shard });
  const onReconnecting = (shard: number) => log.info('a gateway connection was lost; reconnecting', { shard });
  const onResume = (shard: number, replayed: number) => log.info('a gateway connection resumed', { shard, replayed });
  const onDisconnect = ({ code }: { readonly code: number }, shard: number) =>
    log.error('Discord ended a gateway connection for good', { shard, code });
  client.on('shardError', onError);
  client.on('shardReconnecting', onReconnecting);
  client.on('shardResume', onResume);
  client.on('shardDisconnect', onDisconnect);
  return () => {
    client.off('shardError', onError);
    client.off('shardReconnecting', onReconnecting);
    client.off('shardResume', onResume);
    client.off('shardDisconnect', onDisconnect);
  };
}
