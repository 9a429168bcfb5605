import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import sinon from 'sinon';
import { readLogs } from '../../support/log-files.js';

const MINUTE_MS = 60_000;

/** A plugin that records the content of each message, then calls `act` with it. @returns the plugin, and the recorded contents */
function listener(id: string, act: (content: string) => unknown) {
  const heard: string[] = [];
  const plugin = definePlugin({
    manifest: { id, version: '1.0.0', description: 'Listens', intents: ['GuildMessages', 'MessageContent'] },
    setup({ on }) {
      on('messageCreate', ({ content }) => {
        heard.push(content);
        return act(content);
      });
    },
  });
  return { plugin, heard };
}

describe('the error boundary', () => {
  let host: TestHost;
  let elsewhere: LocalChannel;
  let gate: ReturnType<typeof deferred>;
  let began: (value?: unknown) => void = () => undefined;
  const time = { passed: 0 };
  const flaky = listener('flaky', (content) => {
    if (content === 'fail') throw new Error('boom');
    if (content === 'fail later') return Promise.reject(new Error('boom'));
    if (content === 'wait') {
      began();
      return gate.promise;
    }
    if (content.startsWith('block')) time.passed += Number(content.slice('block '.length));
  });
  const other = listener('other', () => undefined);

  before(async () => {
    // The real event loop is measured, which no host's clock moves.
    const now = performance.now.bind(performance);
    sinon.stub(performance, 'now').callsFake(() => now() + time.passed);
    host = await createTestHost({ plugins: [flaky.plugin, other.plugin], logFiles: true });
    const guild = host.discord.createGuild({ name: 'Pacifica', owner: host.you });
    guild.invite(host.application);
    guild.join(host.alice);
    elsewhere = guild.createChannel({ name: 'general' });
    await host.settled();
  });
  // Errors and suspensions are forgotten by then.
  beforeEach(async () => {
    gate = deferred();
    await host.advance(2 * MINUTE_MS);
  });
  after(async () => {
    sinon.restore();
    await host[Symbol.asyncDispose]();
  });

  const say = async (content: string, channel = host.general) => {
    host.alice.say(channel, content);
    await host.settled();
  };
  /** Has a handler begin that ends with the gate. */
  const begin = async () => {
    const heard = new Promise((resolve) => {
      began = resolve;
    });
    host.alice.say(host.general, 'wait');
    await heard;
  };
  /** Who hears a message in a channel. */
  const hearing = async (channel = host.general) => {
    for (const { heard } of [flaky, other]) heard.length = 0;
    await say('hello', channel);
    return [flaky, other].filter(({ heard }) => heard.length > 0).map(({ plugin }) => plugin.manifest.id);
  };
  /** What is logged about a plugin during a task. */
  const logged = async (task: () => Promise<unknown>) => {
    const before = host.log.length;
    await task();
    return host.log.slice(before).filter(({ level }) => level === 'error' || level === 'warn');
  };

  it('suspends a plugin in a guild at its tenth error within a minute, for a minute, and says so once', async () => {
    const entries = await logged(async () => {
      for (let error = 0; error < 9; error++) await say('fail');
      expect(await hearing()).to.deep.equal(['flaky', 'other']);
      await say('fail');
      expect(await hearing()).to.deep.equal(['other']);
      await say('fail');
    });
    expect(await hearing(elsewhere)).to.deep.equal(['flaky', 'other']);
    expect(entries.filter(({ message }) => message.includes('pause for a minute in this guild'))).to.have.length(1);
    await host.advance(MINUTE_MS);
    expect(await hearing()).to.deep.equal(['flaky', 'other']);
  });

  it('does not suspend for ten errors spread over more than a minute', async () => {
    for (let error = 0; error < 20; error++) {
      await say('fail');
      await host.advance(7_000);
    }
    expect(await hearing()).to.deep.equal(['flaky', 'other']);
  });

  it('names the plugin whose handler held the event loop for more than 500 ms', async () => {
    const held = async (ms: number) =>
      (await logged(() => say(`block ${ms}`))).flatMap(({ message }) => (/held/.test(message) ? [message] : []));
    expect(await held(100)).to.deep.equal([]);
    const [message, ...more] = await held(501);
    expect(message).to.match(/^flaky held the event loop for 5\d\d ms in listener messageCreate$/);
    expect(more).to.deep.equal([]);
  });

  it('has a plugin stopped when nothing of it is under way', async () => {
    await begin();
    await host.plugins.unload('other');
    let isOver = false;
    const unloaded = host.plugins.unload('flaky').then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).to.equal(false);
    gate.resolve();
    const entries = await logged(() => unloaded);
    expect(entries).to.deep.equal([]);
    for (const id of ['flaky', 'other']) await host.plugins.load(id);
  });

  it('stops waiting for that when its time is up', async () => {
    await begin();
    const unloaded = host.plugins.unload('flaky');
    await new Promise(setImmediate);
    const entries = await logged(async () => {
      host.clock.advance(MINUTE_MS);
      await unloaded;
    });
    expect(entries.map(({ message }) => message)).to.deep.equal([
      'flaky was still busy after 10 s; what it was doing is cancelled',
    ]);
    gate.resolve();
    await host.plugins.load('flaky');
  });

  it('keeps what a handler throws, at once or later, from the process, and logs it with the guild', async () => {
    await say('fail');
    await say('fail later');
    const entries = (await readLogs(host)).filter(({ level, message }) => level === 'error' && /failed$/.test(message));
    expect(entries.slice(-2).map(({ plugin, message, guildId }) => [plugin, message, guildId])).to.deep.equal([
      ['flaky', 'listener messageCreate failed', host.guild.id],
      ['flaky', 'listener messageCreate failed', host.guild.id],
    ]);
  });
});

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
