import { missingSentences, t, UserError, z } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import type { AdminContext } from './context.js';
import { code } from './format.js';

const server = z.object({ id: z.string(), name: z.string(), members: z.number(), since: z.number() });
export type Server = z.output<typeof server>;

const viewOf = ({ id, name, memberCount, joinedTimestamp }: Guild): Server => ({
  id,
  name,
  members: memberCount,
  since: joinedTimestamp,
});

export type AllServers = ReturnType<typeof createAllServers>;

/** The servers of the bot, in all processes. */
export function createAllServers({ client, question }: AdminContext) {
  const largest = question({
    name: 'largest-servers',
    input: z.object({ named: z.string(), most: z.number(), shards: z.array(z.number()).optional() }),
    answer: z.object({ count: z.number(), servers: z.array(server) }),
    run({ named, most, shards }) {
      const found = client.guilds.cache.filter(
        ({ name, shardId }) =>
          name.toLowerCase().includes(named.toLowerCase()) && (shards === undefined || shards.includes(shardId)),
      );
      return { count: found.size, servers: bySize(found.map(viewOf)).slice(0, most) };
    },
  });
  const one = question({
    name: 'server',
    input: z.object({ id: z.string() }),
    answer: server.nullable(),
    run({ id }) {
      const guild = client.guilds.cache.get(id);
      return guild === undefined ? null : viewOf(guild);
    },
  });
  const leaving = question({
    name: 'leave-server',
    input: z.object({ id: z.string() }),
    answer: z.boolean(),
    async run({ id }) {
      const guild = client.guilds.cache.get(id);
      await guild?.leave();
      return guild !== undefined;
    },
  });

  return {
    /**
     * @param named part of the name
     * @param shards only servers of these shards
     */
    async largest(
      most: number,
      named = '',
      shards?: number[],
    ): Promise<{ count: number; servers: readonly Server[]; missing: number }> {
      const { answers, missing } = await largest.everywhere({
        named,
        most,
        ...(shards === undefined ? {} : { shards }),
      });
      return {
        count: answers.reduce((sum, { count }) => sum + count, 0),
        servers: bySize(answers.flatMap(({ servers }) => servers)).slice(0, most),
        missing,
      };
    },
    async count(): Promise<number> {
      return (await this.largest(0)).count;
    },
    /** @throws UserError when the bot is not in it */
    async find(id: string): Promise<Server> {
      const found = ID.test(id) ? await one.of(id, { id }) : null;
      if (found === null)
        throw new UserError(t('The bot is in no server with the id {id}. `bot servers` lists them.', { id: code(id) }));
      return found;
    },
    /** @returns whether the bot was still in the server */
    leave: (id: string) => leaving.of(id, { id }),
  };
}

/** The form of Discord's ids. */
const ID = /^\d{15,20}$/;

const bySize = (servers: readonly Server[]) => servers.toSorted((one, other) => other.members - one.members);

/** The note below a list in a message. */
export const missingNote = (answers: { readonly missing: number }): readonly string[] =>
  missingSentences(answers).map((sentence) => `-# ${sentence}`);
