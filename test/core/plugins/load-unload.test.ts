import { defineToken, optional } from '@cinnabar/sdk';
import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { createPluginHarness } from './support/harness.js';
import { testPlugin, turn } from './support/plugins.js';

const A = defineToken<unknown>('test.a');
const B = defineToken<unknown>('test.b');

describe('loading and unloading plugins', () => {
  it('leaves no effect and no code when it unloads', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('dice', { setup: ({ on }) => on('messageCreate', () => undefined) }));
    expect(harness.manager.list()[0]?.effects).to.deep.equal(['listener messageCreate']);
    await harness.manager.unload('dice');
    expect(harness.manager.list()).to.deep.equal([
      {
        id: 'dice',
        manifest: { id: 'dice', version: '1.0.0', description: 'The plugin dice' },
        state: 'stopped',
        source: 'folder',
        path: '(memory)',
        env: [],
        provides: [],
        injects: [],
        effects: [],
      },
    ]);
  });

  it('stops dependents first, in reverse order, and starts them again when the provider returns', async () => {
    const harness = createPluginHarness();
    const log: string[] = [];
    const noted = (id: string, wants: Parameters<typeof testPlugin>[1]) =>
      testPlugin(id, {
        ...wants,
        setup: ({ defer, provide }) => {
          log.push(`${id} starts`);
          for (const token of wants?.provides ?? []) provide(token, {});
          defer(() => log.push(`${id} stops`));
        },
      });
    await harness.boot(
      noted('a', { provides: [A] }),
      noted('b', { inject: { a: A }, provides: [B] }),
      noted('c', { inject: { b: B } }),
      noted('d', {}),
    );
    log.length = 0;
    await harness.manager.unload('a');
    expect(log).to.deep.equal(['c stops', 'b stops', 'a stops']);
    expect(harness.states()).to.deep.equal({ a: 'stopped', b: 'waiting', c: 'waiting', d: 'running' });
    log.length = 0;
    await harness.manager.load('a');
    expect(log).to.deep.equal(['a starts', 'b starts', 'c starts']);
  });

  it('restarts those that like a service when it goes and when it comes', async () => {
    const harness = createPluginHarness();
    const log: string[] = [];
    const fan = testPlugin('fan', {
      inject: { a: optional(A) },
      setup: ({ services, defer }) => {
        log.push(services.a === undefined ? 'starts without' : 'starts with');
        defer(() => log.push('stops'));
      },
    });
    await harness.boot(testPlugin('a', { provides: [A] }), fan);
    await harness.manager.unload('a');
    await harness.manager.load('a');
    expect(log).to.deep.equal(['starts with', 'stops', 'starts without', 'stops', 'starts with']);
  });

  it('follows a plugin that offers its service late and withdraws it early: dependents stop before it is gone', async () => {
    const harness = createPluginHarness();
    const log: string[] = [];
    let offer: () => () => Promise<void> = () => () => Promise.resolve();
    await harness.boot(
      testPlugin('a', {
        provides: [A],
        setup: ({ provide }) => {
          offer = () => provide(A, {});
        },
      }),
      testPlugin('user', {
        inject: { a: A },
        setup: ({ defer }) => defer(() => log.push(`stops while the service is there: ${harness.services.has(A)}`)),
      }),
    );
    expect(harness.states().user).to.equal('waiting');
    const withdraw = offer();
    await harness.manager.idle();
    expect(harness.states().user).to.equal('running');
    await withdraw();
    expect(log).to.deep.equal(['stops while the service is there: true']);
    expect(harness.services.has(A)).to.equal(false);
    expect(harness.states()).to.deep.equal({ a: 'running', user: 'waiting' });
  });

  it('stops a plugin whose services change each time that it starts, and says so', async () => {
    const harness = createPluginHarness();
    const renewable = (provide: (service: unknown) => () => Promise<void>) => {
      const renew = async () => {
        await withdraw();
        withdraw = provide({ renew });
      };
      let withdraw = provide({ renew });
    };
    await harness.boot(
      testPlugin('a', { provides: [A], setup: ({ provide }) => renewable((service) => provide(A, service)) }),
      testPlugin('restless', {
        inject: { a: optional(A) },
        setup: ({ services }) => Reflect.apply(Reflect.get(Object(services.a), 'renew'), services.a, []),
      }),
    );
    await harness.manager.idle();
    expect(harness.states()).to.deep.equal({ a: 'running', restless: 'failed' });
    expect(harness.problem('restless')).to.equal(
      'The plugin "restless" failed to start: it was restarted 5 times, because its services change each time that it starts.',
    );
  });

  it('loads nothing twice, even when it is asked at the same time', async () => {
    const harness = createPluginHarness();
    let starts = 0;
    harness.manager.add(testPlugin('dice', { setup: () => void starts++ }), { path: '(memory)' });
    const results = await Promise.allSettled([harness.manager.load('dice'), harness.manager.load('dice')]);
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    expect(await codedError('CINNABAR_PLUGIN_STATE', harness.manager.load('dice'))).to.equal(
      'The plugin "dice" is already running.',
    );
    expect(starts).to.equal(1);
  });

  it('loads a plugin that has to wait, and says what for', async () => {
    const harness = createPluginHarness();
    harness.manager.add(testPlugin('user', { inject: { a: A } }), { path: '(memory)' });
    const { state, problem } = await harness.manager.load('user');
    expect({ state, problem }).to.deep.equal({
      state: 'waiting',
      problem: 'The plugin "user" needs test.a, which no loaded plugin provides.',
    });
  });

  it('says why a plugin does not start', async () => {
    const harness = createPluginHarness();
    const setup = () => {
      throw new Error('no luck');
    };
    harness.manager.add(testPlugin('dice', { setup }), { path: '(memory)' });
    expect(await codedError('CINNABAR_PLUGIN_SETUP', harness.manager.load('dice'))).to.equal(
      'The plugin "dice" failed to start: no luck',
    );
    expect(harness.states().dice).to.equal('failed');
  });

  it('refuses what is not there', async () => {
    const { manager } = createPluginHarness();
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.load('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.unload('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.reload('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.enable('1', 'nobody'));
  });

  it('refuses to unload what is not loaded', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('dice'));
    await harness.manager.unload('dice');
    expect(await codedError('CINNABAR_PLUGIN_STATE', harness.manager.unload('dice'))).to.equal(
      'The plugin "dice" is not loaded.',
    );
  });

  it('lets a busy plugin finish for 10 s, then cancels it', async () => {
    const harness = createPluginHarness();
    let aborted = false;
    await harness.boot(
      testPlugin('dice', {
        setup: ({ signal }) =>
          signal.addEventListener('abort', () => {
            aborted = true;
          }),
      }),
    );
    harness.busy.add('dice');
    const unloaded = harness.manager.unload('dice');
    await turn();
    harness.clock.advance(9_999);
    await turn();
    expect(aborted).to.equal(false);
    harness.clock.advance(1);
    await unloaded;
    expect(aborted).to.equal(true);
    expect(harness.complaints).to.deep.equal(['dice was still busy after 10 s; what it was doing is cancelled']);
  });

  it('logs what does not clean up, and goes on', async () => {
    const harness = createPluginHarness();
    await harness.boot(
      testPlugin('dice', {
        setup: ({ defer }) =>
          defer(() => {
            throw new Error('stuck');
          }),
      }),
    );
    await harness.manager.unload('dice');
    expect(harness.complaints).to.deep.equal(['dice did not clean up: stuck']);
    expect(harness.states().dice).to.equal('stopped');
  });

  describe('that the bot needs to load others again', () => {
    it('refuses to unload or disable them', async () => {
      const harness = createPluginHarness();
      await harness.boot(testPlugin('admin', { required: true }));
      await codedError('CINNABAR_PLUGIN_REQUIRED', harness.manager.unload('admin'));
      await codedError('CINNABAR_PLUGIN_REQUIRED', harness.manager.disable('1', 'admin'));
      expect(harness.states().admin).to.equal('running');
      expect(harness.manager.enabledIn('1', 'admin')).to.equal(true);
    });

    it('refuses to unload what they need', async () => {
      const harness = createPluginHarness();
      await harness.boot(testPlugin('a', { provides: [A] }), testPlugin('admin', { required: true, inject: { a: A } }));
      expect(await codedError('CINNABAR_PLUGIN_REQUIRED', harness.manager.unload('a'))).to.equal(
        'The plugin "a" cannot be switched off: "admin" needs it.',
      );
      expect(harness.states()).to.deep.equal({ a: 'running', admin: 'running' });
    });
  });

  describe('in a guild', () => {
    it('enables and disables them there, and tells the host', async () => {
      const harness = createPluginHarness();
      await harness.boot(testPlugin('dice'), testPlugin('shy', { enabledByDefault: false }));
      await turn();
      harness.changes.length = 0;
      const { manager } = harness;
      expect([manager.enabledIn('1', 'dice'), manager.enabledIn('1', 'shy')]).to.deep.equal([true, false]);
      await manager.disable('1', 'dice');
      await manager.enable('1', 'shy');
      expect([manager.enabledIn('1', 'dice'), manager.enabledIn('1', 'shy')]).to.deep.equal([false, true]);
      expect([manager.enabledIn('2', 'dice'), manager.enabledIn('2', 'shy')]).to.deep.equal([true, false]);
      expect([manager.enabledIn(null, 'dice'), manager.enabledIn(null, 'shy')]).to.deep.equal([true, false]);
      await turn();
      expect(harness.changes).to.deep.equal([
        { plugins: ['dice'], guildId: '1' },
        { plugins: ['shy'], guildId: '1' },
      ]);
    });

    it('knows nothing of a plugin that is not there', () => {
      expect(createPluginHarness().manager.enabledIn('1', 'nobody')).to.equal(false);
    });
  });
});
