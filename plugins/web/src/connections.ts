import { type HostInfo, type Question, type Registrar, z } from '@cinnabar/sdk';
import { type Client, Status } from 'discord.js';

const shard = z.object({
  id: z.number(),
  isReady: z.boolean(),
  /** `null` until it is measured. */
  latencyMs: z.number().nullable(),
  servers: z.number(),
});

const connections = z.object({
  /** Empty where one process serves the bot. */
  process: z.string(),
  /** Of the process, which may also run other parts of the bot. */
  residentBytes: z.number(),
  servers: z.number(),
  shards: z.array(shard),
});
export type Connections = z.output<typeof connections>;

/** Asks every process of the bot for its connections to Discord. */
export function askConnections(
  { client, question }: Pick<Registrar, 'client' | 'question'>,
  host: Pick<HostInfo, 'member'>,
): Question<Record<never, never>, Connections> {
  return question({
    name: 'connections',
    input: z.object({}),
    answer: connections,
    run: () => ({
      process: host.member ?? '',
      residentBytes: process.memoryUsage.rss(),
      servers: client.guilds.cache.size,
      shards: shardsOf(client),
    }),
  });
}

function shardsOf({ ws, guilds }: Client): Connections['shards'] {
  const servers = new Map<number, number>();
  for (const { shardId } of guilds.cache.values()) servers.set(shardId, (servers.get(shardId) ?? 0) + 1);
  return ws.shards.map(({ id, ping, status }) => ({
    id,
    isReady: status === Status.Ready,
    latencyMs: ping < 0 ? null : ping,
    servers: servers.get(id) ?? 0,
  }));
}
