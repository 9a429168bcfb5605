import { setImmediate } from 'node:timers/promises';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { gatewayOn, type Lease, logIn, type SessionStore, type ShardChange } from './harness.js';

/** A lease that the test controls. */
function leaseInHand() {
  const losing = new AbortController();
  let isHeld = true;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const lease: Lease = {
    group: 0,
    token: 1n,
    isHeld: () => isHeld,
    lost: losing.signal,
    async held() {
      while (!isHeld) {
        losing.signal.throwIfAborted();
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  return {
    lease,
    pause() {
      isHeld = false;
    },
    renew() {
      isHeld = true;
      wake();
    },
    lose() {
      isHeld = false;
      losing.abort(new Error('another process has it'));
      wake();
      waiting = [];
    },
  };
}

/** Stores the last save. After `hold`, saves wait until the returned function is called. */
function storeInMemory() {
  const saved: ShardChange[] = [];
  let gate = Promise.resolve();
  const store: SessionStore = {
    load: async () => new Map(),
    guilds: async () => new Map(),
    guildsOf: async () => [],
    async save(shards) {
      await gate;
      saved.push(...shards);
    },
  };
  return {
    store,
    saved,
    hold() {
      let release = () => {};
      gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      return () => release();
    },
  };
}

async function connected() {
  const discord = await startLocalDiscord();
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const general = guild.createChannel({ name: 'general' });
  const hand = leaseInHand();
  const { store, saved, hold } = storeInMemory();
  const gateway = gatewayOn(discord, { inCluster: { lease: hand.lease, sessions: store } });
  const seen: string[] = [];
  gateway.client.on('messageCreate', ({ content }) => void seen.push(content));
  await logIn(gateway, application.token, ['Guilds', 'GuildMessages', 'MessageContent']);
  return {
    discord,
    general,
    you,
    gateway,
    seen,
    saved,
    hold,
    ...hand,
    /** Waits for a result of socket events. */
    async until(is: () => boolean) {
      while (!is()) await setImmediate();
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await discord.close();
    },
  };
}

/** Waits until pending data has arrived. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
}

describe('a gateway whose lease is not held', () => {
  it('hands events on in their order once it is renewed, and lets requests wait for that', async () => {
    await using bot = await connected();
    const { you, general, seen } = bot;
    you.say(general, 'before');
    await bot.until(() => seen.length === 1);
    bot.pause();
    for (let number = 1; number <= 5; number += 1) you.say(general, `message ${number}`);
    const channel = bot.gateway.client.channels.cache.get(general.id);
    const sent = channel?.isSendable() ? channel.send('late') : undefined;
    // Everything that has reached the process is held back.
    await turns();
    expect(seen).to.deep.equal(['before']);
    expect(general.messages.map(({ content }) => content)).not.to.include('late');
    bot.renew();
    await sent;
    expect(seen.slice(0, 6)).to.deep.equal(['before', ...[1, 2, 3, 4, 5].map((number) => `message ${number}`)]);
    expect(general.messages.at(-1)?.content).to.equal('late');
  });

  it('gives up the connection when too much has come, and connects again only once it is renewed', async () => {
    await using bot = await connected();
    const { you, general, seen, discord } = bot;
    bot.pause();
    for (let number = 0; number < 5_001; number += 1) you.say(general, `message ${number}`);
    await bot.until(() => discord.connections.open.size === 0);
    await turns();
    expect(discord.connections.attempts).to.have.length(1);
    expect(seen).to.deep.equal([]);
    bot.renew();
    await bot.until(() => discord.connections.attempts.at(-1)?.asked === 'resume');
  });

  it('leaves the session to the next one when it is lost: nothing is handed on, requested or stored any more', async () => {
    await using bot = await connected();
    const { you, general, seen, discord, saved } = bot;
    bot.pause();
    you.say(general, 'for the next one');
    await turns();
    const before = saved.length;
    bot.lose();
    await bot.until(() => discord.connections.open.size === 0);
    const channel = bot.gateway.client.channels.cache.get(general.id);
    const failed = channel?.isSendable() ? await channel.send('too late').catch((error: unknown) => error) : undefined;
    expect(failed).to.be.an('error').with.property('message', 'another process has it');
    expect(seen).to.deep.equal([]);
    expect(saved).to.have.length(before);
    // Discord has not been notified of the end.
    const session = saved.at(-1)?.session;
    expect(session).to.be.an('object');
    expect(discord.connections.attempts.at(-1)?.closedWith).to.equal(4_200);
  });
});

describe('a gateway in a cluster', () => {
  it('says that an event is stored once its sequence is, and hands it to discord.js at once', async () => {
    await using bot = await connected();
    const { you, general, seen, saved } = bot;
    const stored: string[] = [];
    bot.gateway.client.on('messageCreate', ({ content }) => {
      void bot.gateway.stored?.().then(() => stored.push(content));
    });
    const release = bot.hold();
    you.say(general, 'one');
    you.say(general, 'two');
    await bot.until(() => seen.length === 2);
    expect(stored).to.deep.equal([]);
    release();
    await bot.until(() => stored.length === 2);
    expect(stored).to.deep.equal(['one', 'two']);
    expect(saved.at(-1)?.session?.sequence).to.equal(4);
  });
});
