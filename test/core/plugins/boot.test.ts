import { defineToken, optional } from '@cinnabar/sdk';
import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { createHouse } from './support/house.js';
import { testPlugin, turn } from './support/plugins.js';

const A = defineToken<unknown>('test.a');
const B = defineToken<unknown>('test.b');
const never = () => new Promise<void>(() => undefined);

describe('booting plugins', () => {
  it('starts providers before those that use them, and tells the host once', async () => {
    const house = createHouse();
    const seen: string[] = [];
    await house.boot(
      testPlugin('user', { inject: { a: A }, setup: () => void seen.push('user') }),
      testPlugin('provider', {
        provides: [A],
        setup: ({ provide }) => {
          seen.push('provider');
          provide(A, {});
        },
      }),
    );
    await turn();
    expect(seen).to.deep.equal(['provider', 'user']);
    expect(house.manager.owners().map(({ id }) => id)).to.deep.equal(['provider', 'user']);
    expect(house.changes).to.deep.equal([{ plugins: ['provider', 'user'], guildId: null }]);
  });

  it('injects what was provided, and undefined for an optional service that is not there', async () => {
    const house = createHouse();
    const service = { answer: 42 };
    let injected: unknown;
    await house.boot(
      testPlugin('provider', { provides: [A], setup: ({ provide }) => provide(A, service) }),
      testPlugin('user', {
        inject: { a: A, b: optional(B) },
        setup: ({ services }) => {
          injected = { ...services };
        },
      }),
    );
    expect(injected).to.deep.equal({ a: service, b: undefined });
  });

  it('reports a plugin that throws, leaves nothing of it, and starts the rest', async () => {
    const house = createHouse();
    const order: string[] = [];
    const broken = testPlugin('broken', {
      setup: ({ command, defer }) => {
        command({ name: 'x', description: 'x', run: () => undefined });
        defer(() => order.push('cleaned up'));
        throw new Error('no luck');
      },
    });
    await house.boot(broken, testPlugin('fine'));
    expect(house.states()).to.deep.equal({ broken: 'failed', fine: 'running' });
    expect(house.problem('broken')).to.equal('The plugin "broken" failed to start: no luck');
    expect(order).to.deep.equal(['cleaned up']);
    expect(house.complaints).to.include('The plugin "broken" failed to start: no luck');
  });

  it('reports a plugin that takes over 30 s, refuses its late registrations, and starts the rest', async () => {
    const house = createHouse();
    let late: Promise<string> | undefined;
    let goOn: () => void = () => undefined;
    const slow = testPlugin('slow', {
      setup: ({ command }) => {
        const waiting = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        late = codedError(
          'CINNABAR_SCOPE_CLOSED',
          waiting.then(() => command({ name: 'x', description: 'x', run: () => undefined })),
        );
        return never();
      },
    });
    const booted = house.boot(slow, testPlugin('fine'));
    await turn();
    house.clock.advance(29_999);
    await turn();
    expect(house.states().slow).to.equal('waiting');
    house.clock.advance(1);
    await booted;
    expect(house.states()).to.deep.equal({ slow: 'failed', fine: 'running' });
    expect(house.problem('slow')).to.equal('The plugin "slow" took longer than 30 s to start.');
    goOn();
    expect(await late).to.equal('The plugin "slow" tried to register command x after it was stopped.');
    expect(house.clock.pending).to.equal(0);
  });

  it('says what a plugin waits for: a token without a provider', async () => {
    const house = createHouse();
    await house.boot(testPlugin('user', { inject: { a: A } }));
    expect(house.states().user).to.equal('waiting');
    expect(house.problem('user')).to.equal('The plugin "user" needs test.a, which no loaded plugin provides.');
  });

  it('says what a plugin waits for: a provider that failed', async () => {
    const house = createHouse();
    const setup = () => {
      throw new Error('no luck');
    };
    await house.boot(testPlugin('user', { inject: { a: A } }), testPlugin('provider', { provides: [A], setup }));
    expect(house.problem('user')).to.equal('It waits for test.a, which "provider" provides; that plugin is failed.');
  });

  it('says what a plugin waits for: a provider that has not offered its service yet', async () => {
    const house = createHouse();
    const silent = testPlugin('provider', { provides: [A], setup: () => undefined });
    await house.boot(testPlugin('user', { inject: { a: A } }), silent);
    expect(house.problem('user')).to.equal(
      'It waits for test.a, which "provider" provides; that plugin has not offered it yet.',
    );
  });

  it('names a circle', async () => {
    const house = createHouse();
    await house.boot(
      testPlugin('a', { inject: { b: B }, provides: [A] }),
      testPlugin('b', { inject: { a: A }, provides: [B] }),
    );
    expect(house.problem('a')).to.equal('These plugins wait for one another: a → b → a.');
  });

  it('starts both of two plugins that like each other', async () => {
    const house = createHouse();
    await house.boot(
      testPlugin('a', { inject: { b: optional(B) }, provides: [A] }),
      testPlugin('b', { inject: { a: optional(A) }, provides: [B] }),
    );
    expect(house.states()).to.deep.equal({ a: 'running', b: 'running' });
    await house.manager.idle();
    expect(house.complaints).to.deep.equal([]);
  });

  it('leaves out what is disabled, and starts only what it is asked for', async () => {
    const house = createHouse({ disabled: ['off'] });
    for (const id of ['on', 'off', 'other']) house.manager.add(testPlugin(id), { path: '(memory)' });
    await house.manager.boot({ only: ['on', 'off'] });
    expect(house.states()).to.deep.equal({ on: 'running', off: 'stopped', other: 'stopped' });
    await codedError('CINNABAR_PLUGIN_UNKNOWN', house.manager.boot({ only: ['nobody'] }));
  });

  it('does not fail when the host cannot take in a change', async () => {
    const house = createHouse({
      onChange: () => {
        throw new Error('no sync');
      },
    });
    await house.boot(testPlugin('fine'));
    await turn();
    expect(house.states().fine).to.equal('running');
    expect(house.complaints).to.deep.equal(['the host could not take in a change of its plugins']);
  });

  it('stops everything, the last started first, and starts nothing any more', async () => {
    const house = createHouse();
    const order: string[] = [];
    const named = (id: string) => testPlugin(id, { setup: ({ defer }) => defer(() => order.push(id)) });
    await house.boot(named('a'), named('b'), named('c'));
    await house.manager.stop();
    expect(order).to.deep.equal(['c', 'b', 'a']);
    expect(house.manager.owners()).to.deep.equal([]);
    await codedError('CINNABAR_PLUGIN_STATE', house.manager.load('a'));
  });
});
