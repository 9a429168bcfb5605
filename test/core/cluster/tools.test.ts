import type { LocalChannel, LocalMessage } from '@cinnabar/local-discord';
import { definePlugin, ToolPolicies, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;

/** Tools that return the server whose host has run them. */
const desk = definePlugin({
  manifest: { id: 'desk', version: '1.0.0', description: 'Tools for tests', intents: ['Guilds'] },
  setup({ tool, client }) {
    const nameOf = (guildId: string | null) => client.guilds.cache.get(guildId ?? '')?.name ?? 'not served here';
    const plain = { description: 'Does something', input: z.object({ what: z.string() }) };
    tool({
      ...plain,
      name: 'look',
      risk: 'read',
      run: ({ what }, { actor }) => `${what} of ${nameOf(actor.guildId)}`,
    });
    tool({
      ...plain,
      name: 'burn',
      risk: 'destructive',
      run: ({ what }, { actor }) => `burnt ${what} of ${nameOf(actor.guildId)}`,
    });
    tool({ ...plain, name: 'audit', risk: 'read', access: { tier: 'botOwner' }, run: () => 'audited' });
    tool({
      ...plain,
      name: 'count',
      risk: 'read',
      async run(_, { progress }) {
        for (let at = 1; at <= 3; at += 1) {
          progress({ progress: at, total: 3, message: `at ${at}` });
          await new Promise((resolve) => setImmediate(resolve));
        }
        return 'counted';
      },
    });
    tool({
      ...plain,
      name: 'wait',
      risk: 'read',
      run: (_, { signal }) =>
        new Promise((resolve) => {
          client.emit('debug', 'waiting');
          signal.addEventListener('abort', () => resolve('aborted'), { once: true });
        }),
    });
  },
});

function latestIn(channel: LocalChannel): LocalMessage {
  const latest = channel.messages.at(-1);
  if (latest === undefined) throw new Error('nothing was said in the channel');
  return latest;
}

describePostgres('cluster: tools for servers that another process serves', () => {
  it('are offered, run, held for the member and ended by their host, whichever was asked', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const { members, hosts } = await world.processes(['confirm', desk]);
    try {
      const [host] = hosts();
      if (host === undefined) throw new Error('no host');
      const tools = host.resolve(Tools);
      const stranger = world.discord.createUser({ name: 'stranger' });
      for (const channel of world.channels) {
        const { guild } = channel;
        if (guild === undefined) throw new Error('a channel without a server');
        const actor = { userId: world.owner.id, guildId: guild.id, channelId: channel.id };
        const its = hosts().find(({ client }) => client.guilds.cache.has(guild.id));
        for (const name of ['look', 'audit', 'count', 'wait'])
          await its?.resolve(ToolPolicies).set(guild.id, name, 'allow');
        const call = { actor, origin: 'mcp', arguments: { what: 'the door' } };

        expect((await tools.offered(actor)).map(({ name }) => name)).to.include.members(['look', 'burn', 'audit']);
        expect(await tools.invoke({ ...call, name: 'look' })).to.include({
          status: 'done',
          text: `the door of ${guild.name}`,
        });
        const signs: number[] = [];
        const counted = await tools.invoke({
          ...call,
          name: 'count',
          onProgress: ({ progress }) => signs.push(progress),
        });
        expect(counted).to.include({ status: 'done', text: 'counted' });
        expect(signs[0], 'the first sign of progress').to.equal(1);
        expect(signs).to.eql(signs.toSorted());
        guild.join(stranger);
        const other = { ...call, actor: { ...actor, userId: stranger.id } };
        expect((await tools.offered(other.actor)).map(({ name }) => name)).not.to.include('audit');
        expect((await tools.explain(other.actor, 'audit'))?.allowed).to.equal(false);
        expect(await tools.explain(actor, 'nothing')).to.equal(undefined);
        expect(await tools.invoke({ ...other, name: 'audit' })).to.include({ status: 'denied' });

        const held = await tools.invoke({ ...call, name: 'burn' });
        if (held.status !== 'deferred') throw new Error(`${held.status} without being asked about`);
        world.owner.react(latestIn(channel), '👍');
        expect(await held.settled).to.include({ status: 'done', text: `burnt the door of ${guild.name}` });

        const gone = new AbortController();
        const waiting = tools.invoke({ ...call, name: 'wait', signal: gone.signal });
        const begun = hosts().map(
          ({ client }) => new Promise<void>((resolve) => client.on('debug', (text) => text === 'waiting' && resolve())),
        );
        await Promise.race(begun);
        gone.abort();
        expect(await waiting).to.include({ status: 'done', text: 'aborted' });
      }
    } finally {
      for (const member of members) await member.stop();
    }
  });
});
