import { defineToken, optional } from '@cinnabar/sdk';
import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { createPluginHarness } from './support/harness.js';
import { testPlugin, turn } from './support/plugins.js';

const A = defineToken<unknown>('test.a');
const B = defineToken<unknown>('test.b');
const never = () => new Promise<void>(() => undefined);

describe('booting plugins', () => {
  it('starts providers before those that use them, and tells the host once', async () => {
    const harness = createPluginHarness();
    const seen: string[] = [];
    await harness.boot(
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
    expect(harness.manager.owners().map(({ id }) => id)).to.deep.equal(['provider', 'user']);
    expect(harness.changes).to.deep.equal([{ plugins: ['provider', 'user'], guildId: null }]);
  });

  it('injects what was provided, and undefined for an optional service that is not there', async () => {
    const harness = createPluginHarness();
    const service = { answer: 42 };
    let injected: unknown;
    await harness.boot(
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
    const harness = createPluginHarness();
    const order: string[] = [];
    const broken = testPlugin('broken', {
      setup: ({ command, defer }) => {
        command({ name: 'x', description: 'x', run: () => undefined });
        defer(() => order.push('cleaned up'));
        throw new Error('no luck');
      },
    });
    await harness.boot(broken, testPlugin('fine'));
    expect(harness.states()).to.deep.equal({ broken: 'failed', fine: 'running' });
    expect(harness.problem('broken')).to.equal('The plugin "broken" failed to start: no luck');
    expect(order).to.deep.equal(['cleaned up']);
    expect(harness.complaints).to.include('The plugin "broken" failed to start: no luck');
  });

  it('reports a plugin that takes over 30 s, refuses its late registrations, and starts the rest', async () => {
    const harness = createPluginHarness();
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
    const booted = harness.boot(slow, testPlugin('fine'));
    await turn();
    harness.clock.advance(29_999);
    await turn();
    expect(harness.states().slow).to.equal('waiting');
    harness.clock.advance(1);
    await booted;
    expect(harness.states()).to.deep.equal({ slow: 'failed', fine: 'running' });
    expect(harness.problem('slow')).to.equal('The plugin "slow" took longer than 30 s to start.');
    goOn();
    expect(await late).to.equal('The plugin "slow" tried to register command x after it was stopped.');
    expect(harness.clock.pending).to.equal(0);
  });

  it('says what a plugin waits for: a token without a provider', async () => {
    const harness = createPluginHarness();
    await harness.boot(testPlugin('user', { inject: { a: A } }));
    expect(harness.states().user).to.equal('waiting');
    expect(harness.problem('user')).to.equal('The plugin "user" needs test.a, which no loaded plugin provides.');
  });

  it('says what a plugin waits for: a provider that failed', async () => {
    const harness = createPluginHarness();
    const setup = () => {
      throw new Error('no luck');
    };
    await harness.boot(testPlugin('user', { inject: { a: A } }), testPlugin('provider', { provides: [A], setup }));
    expect(harness.problem('user')).to.equal('It waits for test.a, which "provider" provides; that plugin is failed.');
  });

  it('says what a plugin waits for: a provider that has not offered its service yet', async () => {
    const harness = createPluginHarness();
    const silent = testPlugin('provider', { provides: [A], setup: () => undefined });
    await harness.boot(testPlugin('user', { inject: { a: A } }), silent);
    expect(harness.problem('user')).to.equal(
      'It waits for test.a, which "provider" provides; that plugin has not offered it yet.',
    );
  });

  it('names a circle', async () => {
    const harness = createPluginHarness();
    await harness.boot(
      testPlugin('a', { inject: { b: B }, provides: [A] }),
      testPlugin('b', { inject: { a: A }, provides: [B] }),
    );
    expect(harness.problem('a')).to.equal('These plugins wait for one another: a → b → a.');
  });

  it('starts both of two plugins that like each other', async () => {
    const harness = createPluginHarness();
    await harness.boot(
      testPlugin('a', { inject: { b: optional(B) }, provides: [A] }),
      testPlugin('b', { inject: { a: optional(A) }, provides: [B] }),
    );
    expect(harness.states()).to.deep.equal({ a: 'running', b: 'running' });
    await harness.manager.idle();
    expect(harness.complaints).to.deep.equal([]);
  });

  it('leaves out what is disabled, and starts only what it is asked for', async () => {
    const harness = createPluginHarness({ disabled: ['off'] });
    for (const id of ['on', 'off', 'other']) harness.manager.add(testPlugin(id), { path: '(memory)' });
    await harness.manager.boot({ only: ['on', 'off'] });
    expect(harness.states()).to.deep.equal({ on: 'running', off: 'stopped', other: 'stopped' });
    await codedError('CINNABAR_PLUGIN_UNKNOWN', harness.manager.boot({ only: ['nobody'] }));
  });

  it('does not fail when the host cannot take in a change', async () => {
    const harness = createPluginHarness({
      onChange: () => {
        throw new Error('no sync');
      },
    });
    await harness.boot(testPlugin('fine'));
    await turn();
    expect(harness.states().fine).to.equal('running');
    expect(harness.complaints).to.deep.equal(['the host could not take in a change of its plugins']);
  });

  it('stops everything, the last started first, and starts nothing any more', async () => {
    const harness = createPluginHarness();
    const order: string[] = [];
    const named = (id: string) => testPlugin(id, { setup: ({ defer }) => defer(() => order.push(id)) });
    await harness.boot(named('a'), named('b'), named('c'));
    await harness.manager.stop();
    expect(order).to.deep.equal(['c', 'b', 'a']);
    expect(harness.manager.owners()).to.deep.equal([]);
    await codedError('CINNABAR_PLUGIN_STATE', harness.manager.load('a'));
  });
});
