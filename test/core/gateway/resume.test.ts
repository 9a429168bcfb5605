import { setImmediate } from 'node:timers/promises';
import { type LocalDiscord, type LocalGuild, startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { Client, GatewayIntentBits, type GatewayIntentsString } from 'discord.js';
import { createChance } from '../../bench/memory/chance.js';
import { clusterProcess } from '../../support/cluster-process.js';
import { describePostgres, type TestDatabase, testDatabase } from '../../support/postgres.js';
import { gatewayOn, logIn } from './harness.js';

const SHARDS = 2;
const SEEDS = 6;
const MOVES = 3;
const INTENTS: readonly GatewayIntentsString[] = [
  'Guilds',
  'GuildMessages',
  'MessageContent',
  'GuildMembers',
  'GuildExpressions',
];

type Ends = 'handed over' | 'killed';

/** A process of a cluster that serves all servers after its takeover. */
async function processOn(place: TestDatabase, discord: LocalDiscord, token: string, name: string) {
  const process = clusterProcess(place, { poolSize: 4 });
  await process.open();
  let standsStillFor = 0;
  const leases = await process.leases(name, { groups: 1, elapsed: () => [standsStillFor] });
  const lease = await leases.take(0);
  if (lease === undefined) throw new Error('the lease was not free');
  const gateway = gatewayOn(discord, {
    inCluster: {
      shardCount: SHARDS,
      lease,
      sessions: process.sessions(lease, SHARDS),
      limits: process.limits(),
    },
  });
  const heard: string[] = [];
  const { client, stored } = gateway;
  // Records it once it is stored, as listeners of plugins run after that.
  const hear = (what: string) => void stored?.().then(() => heard.push(what));
  client.on('messageCreate', ({ content }) => hear(content));
  client.on('guildCreate', ({ name: joined }) => hear(`joined ${joined}`));
  client.on('guildDelete', ({ name: left }) => hear(`left ${left}`));
  await logIn(gateway, token, INTENTS);
  return {
    gateway,
    heard,
    async end(how: Ends) {
      if (how === 'handed over') {
        await gateway.leave();
        await leases.release(lease, 'drained');
        return;
      }
      // It keeps running without a lease, as after a SIGSTOP, which is more harmful than a dead process.
      standsStillFor = Number.POSITIVE_INFINITY;
      await place.query(`UPDATE ${place.schema}.leases SET until = now() - interval '1 s'`);
    },
    async close() {
      await gateway.close();
      await process.close();
    },
  };
}

/** A client's state of its servers, limited to what Discord sends to a new session. */
function known(client: Client): unknown {
  const servers = client.guilds.cache.map((guild) => {
    const me = guild.members.me;
    return {
      id: guild.id,
      name: guild.name,
      isAvailable: guild.available,
      members: guild.memberCount,
      emojis: guild.emojis.cache.map(({ id }) => id).sort(),
      roles: guild.roles.cache.map((role) => `${role.id} ${role.name} ${role.permissions.bitfield}`).sort(),
      me: { nick: me?.nickname, roles: me?.roles.cache.map(({ id }) => id).sort(), may: me?.permissions.bitfield },
      channels: guild.channels.cache
        .filter((channel) => !channel.isThread())
        .map((channel) => `${channel.id} ${channel.name} ${me?.permissionsIn(channel).bitfield}`)
        .sort(),
      threads: guild.channels.cache
        .filter((channel) => channel.isThread() && channel.archived !== true)
        .map(({ id, name }) => `${id} ${name}`)
        .sort(),
    };
  });
  return servers.sort((one, other) => one.id.localeCompare(other.id));
}

async function createWorld(seed: number) {
  const chance = createChance(seed);
  const pick = <T>(list: readonly T[]) => (list.length === 0 ? undefined : chance.pick(list));
  const discord = await startLocalDiscord({ shards: SHARDS });
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const bot = { id: application.id };
  const guilds: LocalGuild[] = [];
  let count = 0;
  const next = (what: string) => `${what}-${++count}`;
  const found = () => {
    const guild = discord.createGuild({ name: next('server'), owner: you });
    guild.createChannel({ name: 'general' });
    guild.invite(application);
    guilds.push(guild);
  };
  for (let index = 0; index < 4; index += 1) found();

  const said: string[] = [];
  const steps: readonly ((guild: LocalGuild) => void)[] = [
    ...Array.from({ length: 6 }, () => (guild: LocalGuild) => {
      const channel = pick([...guild.channels.values()].filter((one) => one.holdsMessages));
      if (channel === undefined) return;
      const content = next('message');
      said.push(content);
      you.say(channel, content);
    }),
    (guild) => void guild.createChannel({ name: next('channel') }),
    (guild) => {
      const channel = pick([...guild.channels.values()].filter(({ name }) => name !== 'general'));
      if (channel !== undefined) guild.deleteChannel(channel);
    },
    (guild) => {
      const channel = pick([...guild.channels.values()]);
      if (channel !== undefined)
        guild.overwrite(channel, {
          for: guild.everyone,
          deny: chance.happens(0.5) ? ['AttachFiles'] : ['AddReactions'],
        });
    },
    (guild) => void guild.createRole({ name: next('role'), permissions: ['ManageMessages'] }),
    (guild) => {
      const role = pick([...guild.roles.values()].filter((one) => one.name.startsWith('role')));
      if (role === undefined) return;
      const what = chance.next();
      if (what < 0.3) guild.deleteRole(role);
      else if (what < 0.6) guild.editRole(role, { name: next('role'), permissions: ['KickMembers'] });
      else guild.giveRole(application.user, role);
    },
    (guild) => guild.rename(application.user, next('nick')),
    (guild) => {
      const [channel] = guild.channels.values();
      if (channel !== undefined) you.startThread(channel, next('thread'));
    },
    (guild) => void guild.addEmoji(next('emoji').replace('-', '_')),
    (guild) => {
      if (guild.members.has(alice.id)) guild.remove(alice);
      else guild.join(alice);
    },
    () => {
      if (guilds.length < 6) {
        found();
        said.push(`joined server-${count}`);
      }
    },
  ];
  return {
    discord,
    application,
    bot,
    said,
    chance,
    happen(times: number) {
      for (let time = 0; time < times; time += 1) {
        const guild = pick(guilds);
        if (guild !== undefined) pick(steps)?.(guild);
      }
    },
  };
}

/** A client that does not move to another process. */
async function loginStaying(discord: LocalDiscord, token: string): Promise<Client> {
  const client = new Client({
    intents: INTENTS.map((name) => GatewayIntentBits[name]),
    shards: Array.from({ length: SHARDS }, (_, shard) => shard),
    shardCount: SHARDS,
    rest: { api: discord.api },
    ws: { buildIdentifyThrottler: async () => ({ waitForIdentify: async () => undefined }) },
  });
  const ready = new Promise((resolve) => client.once('clientReady', resolve));
  await client.login(token);
  await ready;
  return client;
}

describePostgres('a session that moves to another process', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`loses no event and doubles none, and knows what one knows that stayed (seed ${seed})`, async () => {
      await using place = await testDatabase();
      const world = await createWorld(seed);
      const { discord, chance } = world;
      await using _discord = discord;
      const { token } = world.application;
      const staying = await loginStaying(discord, token);
      const processes: Awaited<ReturnType<typeof processOn>>[] = [];
      try {
        let current = await processOn(place, discord, token, 'process-0');
        processes.push(current);
        for (let move = 1; move <= MOVES; move += 1) {
          world.happen(20);
          // Stops at a random moment: an event may be in transmission, dispatched, being stored, or stored.
          for (let turns = chance.below(600); turns > 0; turns -= 1) await setImmediate();
          const ending = current.end(chance.happens(0.5) ? 'handed over' : 'killed');
          world.happen(5);
          await ending;
          world.happen(10);
          current = await processOn(place, discord, token, `process-${move}`);
          processes.push(current);
        }
        world.happen(20);
        await discord.settled();
        await current.gateway.stored?.();
        expect(processes.flatMap(({ heard }) => heard).sort()).to.deep.equal([...world.said].sort());
        expect(known(current.gateway.client)).to.deep.equal(known(staying));
        const { identifies, resumes } = discord.connections.counts;
        expect({ identifies, resumes }).to.deep.equal({ identifies: 2 * SHARDS, resumes: MOVES * SHARDS });
      } finally {
        await Promise.all(processes.map((one) => one.close()));
        await staying.destroy();
      }
    });
});
