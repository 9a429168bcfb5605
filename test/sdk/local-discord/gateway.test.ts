import timers, { setImmediate } from 'node:timers/promises';
import type { LocalDiscordOptions } from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import {
  Events,
  GatewayCloseCodes,
  GatewayIntentBits,
  GatewayOpcodes,
  type RESTGetAPIGatewayBotResult,
  Status,
} from 'discord.js';
import sinon from 'sinon';
import { WebSocket } from 'ws';
import { createClient, type NightCity, next, nightCity, textChannel } from './support.js';

/** The pause of discord.js before it connects again, which nothing can configure. */
const RECONNECT_MS = 500;

describe('local Discord: gateway', () => {
  let city: NightCity;
  before(() => {
    const { setTimeout: wait } = timers;
    sinon.replace(timers, 'setTimeout', (delayMs, value, options) =>
      wait(delayMs === RECONNECT_MS ? 0 : delayMs, value, options),
    );
  });
  after(() => sinon.restore());
  beforeEach(async () => {
    city = await nightCity();
  });
  afterEach(() => city.close());

  describe('login', () => {
    it('gives the bot itself, its application with owner, and its guilds with channels and roles', async () => {
      const client = await city.login();
      expect(client.user.username).to.equal('Cinnabar');
      expect(client.guilds.cache.map((guild) => guild.name)).to.deep.equal(['Night City']);
      expect(client.channels.cache.map((channel) => channel.isDMBased() || channel.name)).to.deep.equal(['general']);
      const application = await client.application.fetch();
      expect(application.owner).to.have.property('username', 'you');
      expect(
        await (
          await fetch(`${city.discord.api}/v10/oauth2/applications/@me`, {
            headers: { authorization: `Bot ${city.app.token}` },
          })
        ).json(),
      ).to.include({ id: city.app.id });
    });

    it('names the team that owns the application', async () => {
      const { discord, alice, you } = city;
      const app = discord.createApplication({
        name: 'Team bot',
        owner: you,
        team: { name: 'Us', members: [you, alice] },
      });
      const client = await city.login({}, app);
      const { owner } = await client.application.fetch();
      expect(owner).to.have.property('name', 'Us');
      expect(owner && 'members' in owner ? [...owner.members.keys()] : []).to.deep.equal([you.id, alice.id]);
    });

    it('refuses a wrong token', async () => {
      const error: unknown = await createClient(city.discord)
        .login('wrong')
        .catch((reason: unknown) => reason);
      expect(error).to.have.property('code', 'TokenInvalid');
    });

    it('refuses privileged intents that the portal does not allow', async () => {
      const { discord, you } = city;
      const app = discord.createApplication({ name: 'Modest', owner: you, privilegedIntents: [] });
      const client = createClient(discord);
      city.clients.push(client);
      const error: unknown = await client.login(app.token).catch((reason: unknown) => reason);
      expect(error).to.be.an('error').with.property('message', 'Used disallowed intents');
    });

    it('tells a bot of a guild that it is invited to, and of one that it is thrown out of', async () => {
      const { discord, you, app } = city;
      const client = await city.login();
      const joined = next(client, Events.GuildCreate);
      const second = discord.createGuild({ name: 'Badlands', owner: you });
      second.invite(app);
      expect((await joined)[0].name).to.equal('Badlands');
      const left = next(client, Events.GuildDelete);
      second.remove(app.user);
      expect((await left)[0].id).to.equal(second.id);
    });
  });

  describe('intents', () => {
    const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;

    it('decide which events are sent', async () => {
      const client = await city.login({ intents: [Guilds] });
      let heard = 0;
      client.on(Events.MessageCreate, () => {
        heard += 1;
      });
      city.alice.say(city.general, 'hello');
      await city.discord.settled();
      expect(heard).to.equal(0);
    });

    it('without MessageContent hide what was said, except to whom it concerns', async () => {
      const client = await city.login({ intents: [Guilds, GuildMessages, GatewayIntentBits.DirectMessages] });
      const contents: string[] = [];
      client.on(Events.MessageCreate, (message) => void contents.push(message.content));
      const { alice, app, general } = city;
      alice.say(general, 'hidden', { files: [{ name: 'a.txt', data: Buffer.from('a') }] });
      alice.say(general, `${app.user} shown`);
      alice.say(alice.openDm(app), 'private');
      await textChannel(client, general.id).send('own');
      await city.discord.settled();
      expect(contents).to.deep.equal(['', `${app.user} shown`, 'private', 'own']);
    });

    it('with MessageContent show everything', async () => {
      const client = await city.login({ intents: [Guilds, GuildMessages, MessageContent] });
      const heard = next(client, Events.MessageCreate);
      city.alice.say(city.general, 'shown');
      expect((await heard)[0].content).to.equal('shown');
    });

    it('do not reveal channels that the bot cannot see', async () => {
      const { guild, app, you } = city;
      const secret = guild.createChannel({ name: 'secret', overwrites: [{ for: app.user, deny: ['ViewChannel'] }] });
      const client = await city.login();
      let heard = 0;
      client.on(Events.MessageCreate, () => {
        heard += 1;
      });
      you.say(secret, 'psst');
      await city.discord.settled();
      expect(heard).to.equal(0);
    });
  });

  describe('sessions', () => {
    const resumed = (client: Awaited<ReturnType<NightCity['login']>>) => next(client, Events.ShardResume);

    it('are resumed after a dropped socket, with what was missed', async () => {
      const client = await city.login();
      const contents: string[] = [];
      client.on(Events.MessageCreate, (message) => void contents.push(message.content));
      const back = resumed(client);
      city.discord.faults.gateway.dropSockets();
      for (const text of ['one', 'two', 'three']) city.alice.say(city.general, text);
      expect((await back)[1]).to.equal(4);
      expect(contents).to.deep.equal(['one', 'two', 'three']);
    });

    it('are resumed when Discord asks for it', async () => {
      const client = await city.login();
      const back = resumed(client);
      city.discord.faults.gateway.requestReconnect();
      await back;
      city.alice.say(city.general, 'still here?');
      await city.discord.settled();
      expect(client.channels.cache.get(city.general.id)).to.have.nested.property('lastMessage.content', 'still here?');
    });

    it('are opened anew when they are invalid', async () => {
      const client = await city.login();
      const ready = next(client, Events.ShardReady);
      city.discord.faults.gateway.invalidateSessions(false);
      await ready;
      expect(client.ws.status).to.equal(Status.Ready);
      city.alice.say(city.general, 'hello');
      await city.discord.expectMessage({ author: city.alice, content: 'hello' });
    });

    it('that cannot be resumed are opened anew', async () => {
      const client = await city.login();
      city.discord.faults.gateway.refuseResume = true;
      const ready = next(client, Events.ShardReady);
      city.discord.faults.gateway.closeSockets(4000);
      await ready;
    }).timeout(5_000);

    it('survive a gateway that refuses connections or closes them at once', async () => {
      const { gateway } = city.discord.faults;
      gateway.closeOnConnect = { code: 4000, times: 1 };
      const client = await city.login();
      expect(client.ws.status).to.equal(Status.Ready);
      const back = resumed(client);
      gateway.refuseConnections = 1;
      gateway.dropSockets();
      await back;
    }).timeout(5_000);

    it('end as zombies when heartbeats are not acknowledged, and are resumed', async () => {
      await city.close();
      city = await nightCity({ heartbeatIntervalMs: 100 });
      const client = await city.login();
      const back = resumed(client);
      city.discord.faults.gateway.muteHeartbeatAcks = true;
      await next(client, Events.ShardReconnecting);
      city.discord.faults.gateway.muteHeartbeatAcks = false;
      await back;
    });
  });

  describe('shards', () => {
    it('share the guilds by id', async () => {
      const { app, discord, you } = city;
      const guilds = Array.from({ length: 6 }, (_, index) => discord.createGuild({ name: `g${index}`, owner: you }));
      for (const guild of guilds) guild.invite(app);
      const client = await city.login({ shardCount: 2, shards: [0, 1] });
      const shardOf = (id: string) => Number((BigInt(id) >> 22n) % 2n);
      for (const guild of guilds) expect(client.guilds.cache.get(guild.id)?.shardId).to.equal(shardOf(guild.id));
    });

    it('give direct messages to the first', async () => {
      const { alice, app, discord } = city;
      const heard: number[] = [];
      for (const shard of [0, 1]) {
        const client = await city.login({ shardCount: 2, shards: [shard] });
        client.on(Events.MessageCreate, () => void heard.push(shard));
      }
      alice.say(alice.openDm(app), 'hi');
      await discord.settled();
      expect(heard).to.deep.equal([0]);
    });
  });

  describe('sessions of many shards', () => {
    interface Answer {
      readonly op?: number;
      readonly t?: string;
      readonly d?: { readonly session_id?: string };
      /** The close code. */
      readonly code?: number;
    }
    /** Sends a client's payload to the gateway, and resolves with the next event. */
    const say = (message: object) =>
      new Promise<Answer>((resolve) => {
        const socket = new WebSocket(`${city.discord.url.replace('http', 'ws')}/gateway`);
        socket.on('close', (code) => resolve({ code }));
        socket.on('message', (data) => {
          const payload: Answer = JSON.parse(String(data));
          if (payload.op === GatewayOpcodes.Hello) socket.send(JSON.stringify(message));
          else resolve(payload);
        });
      });
    const identify = (shard: number, count = 16) =>
      say({
        op: GatewayOpcodes.Identify,
        d: { token: city.app.token, intents: 1, shard: [shard, count], properties: {} },
      });
    const restart = async (options: LocalDiscordOptions) => {
      await city.close();
      city = await nightCity(options);
    };
    const toldLimit = async () => {
      const answer = await fetch(`${city.discord.api}/v10/gateway/bot`, {
        headers: { authorization: `Bot ${city.app.token}` },
      });
      const { session_start_limit: limit }: RESTGetAPIGatewayBotResult = JSON.parse(await answer.text());
      return limit;
    };

    it('are opened by one shard of each remainder in five seconds', async () => {
      const clock = createManualClock();
      await restart({ clock, shards: 16, sessionStartLimit: { maxConcurrency: 2 } });
      expect(await toldLimit()).to.include({ total: 1_000, remaining: 1_000, max_concurrency: 2 });
      expect((await identify(0)).t).to.equal('READY');
      expect((await identify(1)).t).to.equal('READY');
      expect(await identify(2)).to.include({ op: GatewayOpcodes.InvalidSession });
      clock.advance(5_000);
      expect((await identify(2)).t).to.equal('READY');
      expect((await toldLimit()).remaining).to.equal(997);
      expect(city.discord.connections.counts).to.include({ identifies: 3, refused: 1 });
    });

    it('are refused, as with a wrong token, when there are no more that day', async () => {
      await restart({ shards: 16, sessionStartLimit: { total: 1 } });
      await identify(0);
      expect(await identify(1)).to.deep.equal({ code: GatewayCloseCodes.AuthenticationFailed });
    });

    it('end some time after their socket', async () => {
      const clock = createManualClock();
      await restart({ clock, sessionLifetimeMs: 60_000 });
      const id = (await identify(0, 1)).d?.session_id;
      const closed = async () => {
        while (city.discord.connections.open.size > 0) await setImmediate();
      };
      const resume = () => say({ op: GatewayOpcodes.Resume, d: { token: city.app.token, session_id: id, seq: 1 } });
      city.discord.faults.gateway.dropSockets();
      await closed();
      clock.advance(60_000);
      expect((await resume()).op).to.equal(GatewayOpcodes.Dispatch);
      city.discord.faults.gateway.dropSockets();
      await closed();
      clock.advance(60_001);
      expect(await resume()).to.include({ op: GatewayOpcodes.InvalidSession });
    });
  });

  describe('members', () => {
    it('are fetched through the gateway in chunks', async () => {
      const { discord, guild } = city;
      for (let index = 0; index < 1_200; index += 1) guild.join(discord.createUser({ name: `member${index}` }));
      const client = await city.login();
      const members = await client.guilds.cache.get(guild.id)?.members.fetch();
      expect(members?.size).to.equal(1_203);
      const some = await client.guilds.cache.get(guild.id)?.members.fetch({ query: 'member119', limit: 100 });
      expect(some?.size).to.equal(11);
      expect([
        ...((await client.guilds.cache.get(guild.id)?.members.fetch({ user: [city.alice.id] })) ?? []),
      ]).to.have.lengthOf(1);
    });
  });
});
