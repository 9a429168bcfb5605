import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalDiscord, LocalGuild } from '@cinnabar/local-discord';
import { defined } from '@cinnabar/sdk';

/**
 * One host for the tests of a file, since starting one takes longer than most tests. Call it in a `describe`.
 * @returns opens a view of that host with a guild, a channel and people of its own; `you` owns all guilds. Disposing it makes the bot leave the guild. The clock
 * and the bot's own settings are shared: a test that needs a certain date, a restart, or another bot's life creates a host.
 */
export function useSharedHost(options: () => TestHostOptions): () => Promise<TestHost> {
  let started: Promise<TestHost> | undefined;
  after(async () => {
    await (await started)?.[Symbol.asyncDispose]();
    started = undefined;
  });
  return async () => {
    const chosen = options();
    started ??= createTestHost(chosen);
    return openGuild(await started, chosen);
  };
}

async function openGuild(host: TestHost, { permissions }: TestHostOptions): Promise<TestHost> {
  const { discord, application, you } = host;
  const logged = host.log.length;
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application, defined({ permissions }));
  const general = guild.createChannel({ name: 'general' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  guild.join(alice);
  guild.join(bob);
  await host.settled();
  return {
    ...host,
    discord: within(discord, guild),
    guild,
    general,
    alice,
    bob,
    get log() {
      return host.log.slice(logged);
    },
    async [Symbol.asyncDispose]() {
      if (guild.members.has(application.user.id)) guild.remove(application.user);
      await host.settled();
    },
  };
}

/** A Discord that expects messages in one guild, and later direct messages. */
function within(discord: LocalDiscord, guild: LocalGuild): LocalDiscord {
  return {
    ...discord,
    expectMessage: ({ where, ...expected }) =>
      discord.expectMessage({
        ...expected,
        where: (message) =>
          (message.channel.guild === guild ||
            (message.channel.guild === undefined && BigInt(message.id) > BigInt(guild.id))) &&
          (where?.(message) ?? true),
      }),
  };
}
