import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalDiscord, LocalGuild } from '@cinnabar/local-discord';
import { defined } from '@cinnabar/sdk';

/**
 * One host for the tests of a file, since starting one takes longer than most tests. Call it in a `describe`.
 * @returns opens the host in a new guild for one test: see `inNewGuild`
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
    return inNewGuild(await started, chosen.permissions);
  };
}

/**
 * The same host in a new guild, with a channel and people of its own; `you` owns all guilds. `expectMessage`, `requests` and `log` have only what is newer than the
 * guild, and no messages of older ones. Disposing it removes faults that the test has left, makes the bot leave the guild, and does not stop the host. The clock and
 * the bot's own settings are shared: a test that needs a certain date, a restart, or another bot's life creates a host.
 */
export async function inNewGuild(host: TestHost, permissions?: TestHostOptions['permissions']): Promise<TestHost> {
  const { discord, application, you } = host;
  const logged = host.log.length;
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application, defined({ permissions }));
  const general = guild.createChannel({ name: 'general' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  guild.join(alice);
  guild.join(bob);
  await host.settled();
  discord.requests.reset();
  return {
    ...host,
    discord: since(guild, discord),
    guild,
    general,
    alice,
    bob,
    get log() {
      return host.log.slice(logged);
    },
    async [Symbol.asyncDispose]() {
      discord.faults.clear();
      if (guild.members.has(application.user.id)) guild.remove(application.user);
      await host.settled();
    },
  };
}

/** A Discord that expects messages since a guild was made: in it, in newer guilds, and direct ones. */
function since(guild: LocalGuild, discord: LocalDiscord): LocalDiscord {
  const first = BigInt(guild.id);
  return {
    ...discord,
    expectMessage: ({ where, ...expected }) =>
      discord.expectMessage({
        ...expected,
        where: (message) =>
          BigInt(message.id) > first &&
          BigInt(message.channel.guild?.id ?? message.id) >= first &&
          (where?.(message) ?? true),
      }),
  };
}
