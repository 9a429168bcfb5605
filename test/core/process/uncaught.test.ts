import { runAs, trackOrigins } from '@cinnabar/core/internal/gateway/boundary';
import { createUncaught, originOfStack } from '@cinnabar/core/internal/process/errors';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';

const PLUGINS = [
  { id: 'dice', path: '/bot/plugins/dice' },
  { id: 'dice-tower', path: '/bot/plugins/dice/tower' },
  { id: 'memory', path: '(memory)' },
];

function setUp() {
  const clock = createManualClock();
  const log = recordingLogger();
  const suspended: string[] = [];
  const alerts: string[] = [];
  const uncaught = createUncaught({
    plugins: () => PLUGINS,
    boundary: { suspend: (plugin) => void suspended.push(plugin) },
    alert: ({ kind, text }) => void alerts.push(`${kind}: ${typeof text === 'string' ? text : text()}`),
    clock,
    log,
  });
  return { clock, log, suspended, alerts, uncaught };
}

describe('the origin of an uncaught error', () => {
  const origin = (...frames: readonly string[]) =>
    originOfStack(
      `Error: at /bot/plugins/dice/fake.ts:1:1\n${frames.map((frame) => `    at ${frame}`).join('\n')}`,
      PLUGINS,
    );

  it('is the first frame in a folder of a plugin, the nearest folder where one is in another', () => {
    expect(
      origin('node:net:1:2', 'roll (/bot/plugins/dice/src/roll.ts:3:7)', 'x (/bot/plugins/dice/tower/a.ts:1:1)'),
    ).to.deep.equal({
      plugin: 'dice',
      at: '/bot/plugins/dice/src/roll.ts:3:7',
    });
    expect(origin('async Object.x [as y] (/bot/plugins/dice/tower/a.ts:1:1)')?.plugin).to.equal('dice-tower');
    expect(origin('async /bot/plugins/dice/index.ts:3:7')?.at).to.equal('/bot/plugins/dice/index.ts:3:7');
    expect(origin('file:///bot/plugins/dice/index.js:3:7')?.plugin).to.equal('dice');
    expect(origin('x (/bot/plugins/dice/node_modules/left/index.js:1:1)')?.plugin).to.equal('dice');
  });

  it('is unknown when no frame is in one, whatever the message says', () => {
    expect(origin('x (/bot/plugins/dices/index.ts:3:7)', 'node:internal/timers:581:17')).to.equal(undefined);
    expect(origin()).to.equal(undefined);
  });

  it('is found at once although the message has a line without end', function () {
    this.timeout(2_000);
    const message = `Error: a page that a plugin has read says\n    at ${'/'.repeat(100_000)}`;
    const stack = `${message}\n    at roll (/bot/plugins/dice/index.ts:3:7)`;
    expect(originOfStack(stack, PLUGINS)?.plugin).to.equal('dice');
  });

  it('is looked for although an address on the stack cannot be one of this machine', () => {
    expect(
      origin('x (file://elsewhere/a.js:1:1)', 'y (file:///%E0%A4%A.js:1:1)', '/bot/plugins/dice/index.ts:3:7')?.plugin,
    ).to.equal('dice');
  });
});

describe('an uncaught error', () => {
  it('suspends the plugin that began what failed, when the stack names none', () => {
    const { suspended, log, alerts, uncaught } = setUp();
    const stopTracking = trackOrigins();
    runAs('memory', 'timer', () => uncaught(Object.assign(new Error('reset by peer'), { stack: '' }), 'exception'));
    stopTracking();
    expect(suspended).to.deep.equal(['memory']);
    expect(log.entries.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'memory: uncaught exception; its listeners pause for a minute'],
    ]);
    expect(alerts).to.deep.equal([
      'plugin-suspended: The plugin memory threw an error outside of its handlers (reset by peer); its listeners pause for a minute everywhere.',
    ]);
  });

  it('of unknown origin has the origin of the next one tracked, for an hour', () => {
    const { clock, suspended, uncaught } = setUp();
    const bare = () => Object.assign(new Error('reset by peer'), { stack: '' });
    uncaught(bare(), 'exception');
    runAs('memory', 'timer', () => uncaught(bare(), 'exception'));
    expect(suspended).to.deep.equal(['memory']);
    clock.advance(60 * 60_000);
    runAs('memory', 'timer', () => uncaught(bare(), 'exception'));
    expect(suspended.length).to.equal(Number.parseInt(process.versions.node, 10) >= 24 ? 2 : 1);
  });

  it('is found by the cause of an error, too', () => {
    const { suspended, uncaught } = setUp();
    const cause = new Error('inner');
    cause.stack = 'Error: inner\n    at /bot/plugins/dice/index.ts:1:1';
    uncaught(new Error('outer', { cause }), 'rejection');
    expect(suspended).to.deep.equal(['dice']);
  });

  it('of no plugin is logged, and suspends nothing', () => {
    const { suspended, log, uncaught } = setUp();
    uncaught('no error at all', 'rejection');
    expect(suspended).to.deep.equal([]);
    expect(log.entries.map(({ message }) => message)).to.deep.equal([
      'uncaught rejection outside of any plugin; the bot goes on',
    ]);
  });

  it('fills no disk when it comes a thousand times a second', () => {
    const { clock, log, uncaught } = setUp();
    for (let n = 0; n < 1_000; n++) uncaught(new Error('again'), 'exception');
    expect(log.entries.length).to.equal(10);
    clock.advance(60_000);
    uncaught(new Error('again'), 'exception');
    expect(log.entries.slice(10).map(({ message }) => message)).to.deep.equal([
      'host: 990 more errors that nothing caught within a minute',
      'uncaught exception outside of any plugin; the bot goes on',
    ]);
  });
});
