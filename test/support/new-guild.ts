import type { TestHost } from '@cinnabar/core/testing';

/**
 * The same host in a new guild, which belongs to `you`, with a new alice and a new bob: tests that share a host share no state. `expectMessage` finds
 * only messages, and `requests` has only requests, that are newer than the guild. Disposing it removes faults that a test has left, and does not stop the host. A test of what
 * all guilds share (the log, `you`, the time of day) has a host of its own.
 */
export async function inNewGuild(host: TestHost): Promise<TestHost> {
  const { discord, application, you } = host;
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const general = guild.createChannel({ name: 'general' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  guild.join(alice);
  guild.join(bob);
  await host.settled();
  discord.requests.reset();
  const since = BigInt(guild.id);
  return {
    ...host,
    guild,
    general,
    alice,
    bob,
    discord: {
      ...discord,
      expectMessage: ({ where, ...expected }) =>
        discord.expectMessage({
          ...expected,
          where: (message) => BigInt(message.id) > since && (where?.(message) ?? true),
        }),
    },
    async [Symbol.asyncDispose]() {
      discord.faults.clear();
      await host.settled();
    },
  };
}
