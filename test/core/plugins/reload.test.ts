import { definePlugin, defineToken, type Plugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { codedError } from './support/expect-error.js';
import { createPluginHarness, type PluginHarness } from './support/harness.js';
import { type TestPlugin, testPlugin, turn } from './support/plugins.js';

const A = defineToken<unknown>('test.a');
const B = defineToken<unknown>('test.b');
const never = () => new Promise<void>(() => undefined);
const fail = () => {
  throw new Error('no luck');
};

describe('reloading a plugin', () => {
  let harness: PluginHarness;
  let log: string[];
  beforeEach(() => {
    harness = createPluginHarness();
    log = [];
  });

  /** A plugin that records the starts and stops of its versions. */
  const noted = (id: string, version: string, wants: TestPlugin = {}): Plugin =>
    testPlugin(id, {
      ...wants,
      version,
      setup: (context) => {
        log.push(`${id} ${version} starts`);
        context.defer(() => log.push(`${id} ${version} stops`));
        for (const token of wants.provides ?? []) context.provide(token, { version });
        return wants.setup?.(context);
      },
    });
  const reload = (next: Plugin) => {
    log.length = 0;
    harness.manager.add(next, { path: '(memory)' });
    return harness.manager.reload(next.manifest.id);
  };

  it('stops the old version, starts the new one, and says from what to what', async () => {
    await harness.boot(noted('dice', '1.0.0'));
    expect(await reload(noted('dice', '1.1.0'))).to.deep.equal({
      id: 'dice',
      from: '1.0.0',
      to: '1.1.0',
      changes: [],
    });
    expect(log).to.deep.equal(['dice 1.0.0 stops', 'dice 1.1.0 starts']);
    expect(harness.manager.list()[0]?.manifest.version).to.equal('1.1.0');
  });

  it('says what has changed: commands, listeners, settings, intents', async () => {
    const version = (settings: z.ZodObject, commands: readonly string[], intents: readonly ['GuildMembers'] | []) =>
      definePlugin({
        manifest: { id: 'dice', version: '1.0.0', description: 'Rolls', intents },
        settings: { guild: settings },
        setup({ command, on }) {
          for (const name of commands) command({ name, description: name, run: () => undefined });
          for (const _ of commands) on('messageCreate', () => undefined);
        },
      });
    const sides = z.number().default(6);
    await harness.boot(version(z.object({ sides, old: z.string().optional() }), ['roll', 'toss'], []));
    const next = version(
      z.object({ sides: sides.default(20), fresh: z.boolean().default(true) }),
      ['roll', 'flip', 'draw'],
      ['GuildMembers'],
    );
    const { changes } = await reload(next);
    expect(changes).to.have.members([
      'command toss removed',
      'command flip added',
      'command draw added',
      'listener messageCreate added',
      'setting old removed',
      'setting fresh added',
      'setting sides changed',
      'intent GuildMembers added',
    ]);
  });

  it('starts the old version again when the new one throws, and says why', async () => {
    await harness.boot(noted('dice', '1.2.0'));
    const sentence = await codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('dice', '2.0.0', { setup: fail })));
    expect(sentence).to.equal(
      'The plugin "dice" was not reloaded. The plugin "dice" failed to start: no luck. Still running 1.2.0.',
    );
    expect(log).to.deep.equal(['dice 1.2.0 stops', 'dice 2.0.0 starts', 'dice 2.0.0 stops', 'dice 1.2.0 starts']);
    expect(harness.manager.list()[0]).to.include({ state: 'running' });
    expect(harness.manager.list()[0]?.manifest.version).to.equal('1.2.0');
  });

  it('starts the old version again when the new one hangs', async () => {
    await harness.boot(noted('dice', '1.2.0'));
    const reloaded = codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('dice', '2.0.0', { setup: never })));
    await turn();
    harness.clock.advance(30_000);
    expect(await reloaded).to.include('took longer than 30 s to start. Still running 1.2.0.');
    expect(log).to.deep.equal(['dice 1.2.0 stops', 'dice 2.0.0 starts', 'dice 2.0.0 stops', 'dice 1.2.0 starts']);
  });

  it('says both when the old version does not start again either', async () => {
    let starts = 0;
    await harness.boot(
      noted('dice', '1.2.0', {
        setup: () => {
          starts += 1;
          if (starts > 1) throw new Error('once only');
        },
      }),
    );
    const sentence = await codedError('CINNABAR_PLUGIN_SETUP', reload(noted('dice', '2.0.0', { setup: fail })));
    expect(sentence).to.include('no luck').and.include('Version 1.2.0 did not start again either');
    expect(harness.states().dice).to.equal('failed');
  });

  it('stops dependents before and starts them after, whether or not the new version is any good', async () => {
    await harness.boot(noted('a', '1.0.0', { provides: [A] }), noted('user', '1.0.0', { inject: { a: A } }));
    await reload(noted('a', '2.0.0', { provides: [A] }));
    expect(log).to.deep.equal(['user 1.0.0 stops', 'a 1.0.0 stops', 'a 2.0.0 starts', 'user 1.0.0 starts']);
    await codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('a', '3.0.0', { provides: [A], setup: fail })));
    expect(log.at(-1)).to.equal('user 1.0.0 starts');
    expect(harness.states()).to.deep.equal({ a: 'running', user: 'running' });
  });

  it('gives dependents the new service', async () => {
    const seen: unknown[] = [];
    const user = testPlugin('user', { inject: { a: A }, setup: ({ services }) => void seen.push(services.a) });
    await harness.boot(noted('a', '1.0.0', { provides: [A] }), user);
    await reload(noted('a', '2.0.0', { provides: [A] }));
    expect(seen).to.deep.equal([{ version: '1.0.0' }, { version: '2.0.0' }]);
  });

  it('refuses, before anything stops, a new version that needs what is not there', async () => {
    await harness.boot(noted('dice', '1.2.0'));
    const sentence = await codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('dice', '2.0.0', { inject: { a: A } })));
    expect(sentence).to.include('needs test.a, which no loaded plugin provides. Still running 1.2.0.');
    expect(log).to.deep.equal([]);
  });

  it('refuses, before anything stops, a new version that needs its own dependents', async () => {
    await harness.boot(
      noted('a', '1.0.0', { provides: [A] }),
      noted('b', '1.0.0', { inject: { a: A }, provides: [B] }),
    );
    const next = noted('a', '2.0.0', { provides: [A], inject: { b: B } });
    expect(await codedError('CINNABAR_PLUGIN_RELOAD', reload(next))).to.include('a → b → a');
    expect(log).to.deep.equal([]);
  });

  it('refuses a new version that takes away what a required plugin needs', async () => {
    const admin = testPlugin('admin', { inject: { a: A }, required: true });
    await harness.boot(noted('a', '1.0.0', { provides: [A] }), admin);
    const sentence = await codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('a', '2.0.0')));
    expect(sentence).to.include('"admin" needs it. Still running 1.0.0.');
    expect(harness.states()).to.deep.equal({ a: 'running', admin: 'running' });
  });

  it('lets the old version finish for 10 s, then cancels it', async () => {
    await harness.boot(
      noted('dice', '1.0.0', { setup: ({ signal }) => signal.addEventListener('abort', () => log.push('aborted')) }),
    );
    harness.busy.add('dice');
    const reloaded = reload(noted('dice', '1.1.0'));
    await turn();
    harness.clock.advance(9_999);
    await turn();
    expect(log).to.deep.equal([]);
    harness.clock.advance(1);
    await reloaded;
    expect(log).to.deep.equal(['aborted', 'dice 1.0.0 stops', 'dice 1.1.0 starts']);
  });

  it('takes a plugin that failed before as it is now', async () => {
    await harness.boot(noted('dice', '1.0.0', { setup: fail }));
    await reload(noted('dice', '1.0.1'));
    expect(harness.states().dice).to.equal('running');
    await codedError('CINNABAR_PLUGIN_RELOAD', reload(noted('dice', '1.0.2', { setup: fail })));
  });

  it('says why a plugin that failed before fails again', async () => {
    await harness.boot(noted('dice', '1.0.0', { setup: fail }));
    expect(await codedError('CINNABAR_PLUGIN_SETUP', reload(noted('dice', '1.0.1', { setup: fail })))).to.equal(
      'The plugin "dice" failed to start: no luck',
    );
  });

  it('refuses what is not loaded', async () => {
    await harness.boot(noted('dice', '1.0.0'));
    await harness.manager.unload('dice');
    expect(await codedError('CINNABAR_PLUGIN_STATE', harness.manager.reload('dice'))).to.equal(
      'The plugin "dice" is not loaded.',
    );
  });

  it('does one thing at a time, in the order in which it was asked', async () => {
    await harness.boot(noted('dice', '1.0.0', { setup: turn }));
    log.length = 0;
    const { manager } = harness;
    await Promise.all([manager.reload('dice'), manager.reload('dice'), manager.unload('dice')]);
    expect(log).to.deep.equal([
      'dice 1.0.0 stops',
      'dice 1.0.0 starts',
      'dice 1.0.0 stops',
      'dice 1.0.0 starts',
      'dice 1.0.0 stops',
    ]);
  });
});
