import { defineToken, optional } from '@cinnabar/sdk';
import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { createHouse } from './support/house.js';
import { testPlugin, turn } from './support/plugins.js';

const A = defineToken<unknown>('test.a');
const B = defineToken<unknown>('test.b');

describe('loading and unloading plugins', () => {
  it('leaves no effect and no code when it unloads', async () => {
    const house = createHouse();
    await house.boot(testPlugin('dice', { setup: ({ on }) => on('messageCreate', () => undefined) }));
    expect(house.manager.list()[0]?.effects).to.deep.equal(['listener messageCreate']);
    await house.manager.unload('dice');
    expect(house.manager.list()).to.deep.equal([
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
    const house = createHouse();
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
    await house.boot(
      noted('a', { provides: [A] }),
      noted('b', { inject: { a: A }, provides: [B] }),
      noted('c', { inject: { b: B } }),
      noted('d', {}),
    );
    log.length = 0;
    await house.manager.unload('a');
    expect(log).to.deep.equal(['c stops', 'b stops', 'a stops']);
    expect(house.states()).to.deep.equal({ a: 'stopped', b: 'waiting', c: 'waiting', d: 'running' });
    log.length = 0;
    await house.manager.load('a');
    expect(log).to.deep.equal(['a starts', 'b starts', 'c starts']);
  });

  it('restarts those that like a service when it goes and when it comes', async () => {
    const house = createHouse();
    const log: string[] = [];
    const fan = testPlugin('fan', {
      inject: { a: optional(A) },
      setup: ({ services, defer }) => {
        log.push(services.a === undefined ? 'starts without' : 'starts with');
        defer(() => log.push('stops'));
      },
    });
    await house.boot(testPlugin('a', { provides: [A] }), fan);
    await house.manager.unload('a');
    await house.manager.load('a');
    expect(log).to.deep.equal(['starts with', 'stops', 'starts without', 'stops', 'starts with']);
  });

  it('follows a plugin that offers its service late and withdraws it early: dependents stop before it is gone', async () => {
    const house = createHouse();
    const log: string[] = [];
    let offer: () => () => Promise<void> = () => () => Promise.resolve();
    await house.boot(
      testPlugin('a', {
        provides: [A],
        setup: ({ provide }) => {
          offer = () => provide(A, {});
        },
      }),
      testPlugin('user', {
        inject: { a: A },
        setup: ({ defer }) => defer(() => log.push(`stops while the service is there: ${house.services.has(A)}`)),
      }),
    );
    expect(house.states().user).to.equal('waiting');
    const withdraw = offer();
    await house.manager.idle();
    expect(house.states().user).to.equal('running');
    await withdraw();
    expect(log).to.deep.equal(['stops while the service is there: true']);
    expect(house.services.has(A)).to.equal(false);
    expect(house.states()).to.deep.equal({ a: 'running', user: 'waiting' });
  });

  it('stops a plugin whose services change each time that it starts, and says so', async () => {
    const house = createHouse();
    const renewable = (provide: (service: unknown) => () => Promise<void>) => {
      const renew = async () => {
        await withdraw();
        withdraw = provide({ renew });
      };
      let withdraw = provide({ renew });
    };
    await house.boot(
      testPlugin('a', { provides: [A], setup: ({ provide }) => renewable((service) => provide(A, service)) }),
      testPlugin('restless', {
        inject: { a: optional(A) },
        setup: ({ services }) => Reflect.apply(Reflect.get(Object(services.a), 'renew'), services.a, []),
      }),
    );
    await house.manager.idle();
    expect(house.states()).to.deep.equal({ a: 'running', restless: 'failed' });
    expect(house.problem('restless')).to.equal(
      'The plugin "restless" failed to start: it was restarted 5 times, because its services change each time that it starts.',
    );
  });

  it('loads nothing twice, even when it is asked at the same time', async () => {
    const house = createHouse();
    let starts = 0;
    house.manager.add(testPlugin('dice', { setup: () => void starts++ }), { path: '(memory)' });
    const results = await Promise.allSettled([house.manager.load('dice'), house.manager.load('dice')]);
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    expect(await codedError('CINNABAR_PLUGIN_STATE', house.manager.load('dice'))).to.equal(
      'The plugin "dice" is already running.',
    );
    expect(starts).to.equal(1);
  });

  it('loads a plugin that has to wait, and says what for', async () => {
    const house = createHouse();
    house.manager.add(testPlugin('user', { inject: { a: A } }), { path: '(memory)' });
    const { state, problem } = await house.manager.load('user');
    expect({ state, problem }).to.deep.equal({
      state: 'waiting',
      problem: 'The plugin "user" needs test.a, which no loaded plugin provides.',
    });
  });

  it('says why a plugin does not start', async () => {
    const house = createHouse();
    const setup = () => {
      throw new Error('no luck');
    };
    house.manager.add(testPlugin('dice', { setup }), { path: '(memory)' });
    expect(await codedError('CINNABAR_PLUGIN_SETUP', house.manager.load('dice'))).to.equal(
      'The plugin "dice" failed to start: no luck',
    );
    expect(house.states().dice).to.equal('failed');
  });

  it('refuses what is not there', async () => {
    const { manager } = createHouse();
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.load('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.unload('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.reload('nobody'));
    await codedError('CINNABAR_PLUGIN_UNKNOWN', manager.enable('1', 'nobody'));
  });

  it('refuses to unload what is not loaded', async () => {
    const house = createHouse();
    await house.boot(testPlugin('dice'));
    await house.manager.unload('dice');
    expect(await codedError('CINNABAR_PLUGIN_STATE', house.manager.unload('dice'))).to.equal(
      'The plugin "dice" is not loaded.',
    );
  });

  it('lets a busy plugin finish for 10 s, then cancels it', async () => {
    const house = createHouse();
    let aborted = false;
    await house.boot(
      testPlugin('dice', {
        setup: ({ signal }) =>
          signal.addEventListener('abort', () => {
            aborted = true;
          }),
      }),
    );
    house.busy.add('dice');
    const unloaded = house.manager.unload('dice');
    await turn();
    house.clock.advance(9_999);
    await turn();
    expect(aborted).to.equal(false);
    house.clock.advance(1);
    await unloaded;
    expect(aborted).to.equal(true);
    expect(house.complaints).to.deep.equal(['dice was still busy after 10 s; what it was doing is cancelled']);
  });

  it('logs what does not clean up, and goes on', async () => {
    const house = createHouse();
    await house.boot(
      testPlugin('dice', {
        setup: ({ defer }) =>
          defer(() => {
            throw new Error('stuck');
          }),
      }),
    );
    await house.manager.unload('dice');
    expect(house.complaints).to.deep.equal(['dice did not clean up: stuck']);
    expect(house.states().dice).to.equal('stopped');
  });

  describe('that the bot needs to load others again', () => {
    it('refuses to unload or disable them', async () => {
      const house = createHouse();
      await house.boot(testPlugin('admin', { required: true }));
      await codedError('CINNABAR_PLUGIN_REQUIRED', house.manager.unload('admin'));
      await codedError('CINNABAR_PLUGIN_REQUIRED', house.manager.disable('1', 'admin'));
      expect(house.states().admin).to.equal('running');
      expect(house.manager.enabledIn('1', 'admin')).to.equal(true);
    });

    it('refuses to unload what they need', async () => {
      const house = createHouse();
      await house.boot(testPlugin('a', { provides: [A] }), testPlugin('admin', { required: true, inject: { a: A } }));
      expect(await codedError('CINNABAR_PLUGIN_REQUIRED', house.manager.unload('a'))).to.equal(
        'The plugin "a" cannot be switched off: "admin" needs it.',
      );
      expect(house.states()).to.deep.equal({ a: 'running', admin: 'running' });
    });
  });

  describe('in a guild', () => {
    it('enables and disables them there, and tells the host', async () => {
      const house = createHouse();
      await house.boot(testPlugin('dice'), testPlugin('shy', { enabledByDefault: false }));
      await turn();
      house.changes.length = 0;
      const { manager } = house;
      expect([manager.enabledIn('1', 'dice'), manager.enabledIn('1', 'shy')]).to.deep.equal([true, false]);
      await manager.disable('1', 'dice');
      await manager.enable('1', 'shy');
      expect([manager.enabledIn('1', 'dice'), manager.enabledIn('1', 'shy')]).to.deep.equal([false, true]);
      expect([manager.enabledIn('2', 'dice'), manager.enabledIn('2', 'shy')]).to.deep.equal([true, false]);
      expect([manager.enabledIn(null, 'dice'), manager.enabledIn(null, 'shy')]).to.deep.equal([true, false]);
      await turn();
      expect(house.changes).to.deep.equal([
        { plugins: ['dice'], guildId: '1' },
        { plugins: ['shy'], guildId: '1' },
      ]);
    });

    it('knows nothing of a plugin that is not there', () => {
      expect(createHouse().manager.enabledIn('1', 'nobody')).to.equal(false);
    });
  });
});
