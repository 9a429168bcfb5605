import { CinnabarError } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { ownerOf } from './support/harness.js';

const never = () => new Promise<void>(() => undefined);

function setUp() {
  const clock = createManualClock();
  const order: string[] = [];
  const { scope } = ownerOf('dice', {}, { clock });
  const effect = (label: string) => scope.add(label, () => void order.push(label));
  return { clock, order, scope, effect };
}

/** Lets all code run that does not wait for the clock. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the scope of a plugin', () => {
  it('lists its live effects, oldest first', () => {
    const { scope, effect } = setUp();
    effect('command roll');
    effect('listener messageCreate');
    expect(scope.effects).to.deep.equal(['command roll', 'listener messageCreate']);
  });

  it('lets a plugin have as much under way as it likes without a warning', async () => {
    const { scope } = setUp();
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    for (let count = 0; count < 50; count += 1) scope.signal.addEventListener('abort', () => undefined);
    await turn();
    process.off('warning', note);
    expect(warnings).to.deep.equal([]);
  });

  it('disposes strictly last-in first-out, each one only when the one before has ended', async () => {
    const { scope, order } = setUp();
    for (const label of ['first', 'second', 'third']) {
      scope.add(label, async () => {
        order.push(`${label} begins`);
        await turn();
        order.push(`${label} ends`);
      });
    }
    await scope.close();
    expect(order).to.deep.equal([
      'third begins',
      'third ends',
      'second begins',
      'second ends',
      'first begins',
      'first ends',
    ]);
    expect(scope.effects).to.deep.equal([]);
  });

  it('takes an effect back early, once, however often it is asked', async () => {
    const { scope, order, effect } = setUp();
    effect('first');
    const disposeSecond = effect('second');
    effect('third');
    await Promise.all([disposeSecond(), disposeSecond()]);
    expect(order).to.deep.equal(['second']);
    expect(scope.effects).to.deep.equal(['first', 'third']);
    await scope.close();
    await disposeSecond();
    expect(order).to.deep.equal(['second', 'third', 'first']);
  });

  it('collects every error and goes on', async () => {
    const { scope, order, effect } = setUp();
    effect('first');
    scope.add('second', () => {
      throw new Error('no second');
    });
    scope.add('third', () => Promise.reject(new Error('no third')));
    scope.add('fourth', () => {
      throw 'no fourth';
    });
    const errors = await scope.close();
    expect(errors.map(({ message }) => message)).to.deep.equal(['no fourth', 'no third', 'no second']);
    expect(order).to.deep.equal(['first']);
  });

  it('reports the failure of an early disposal to its caller, and again when it closes', async () => {
    const { scope } = setUp();
    const dispose = scope.add('socket', () => {
      throw new Error('still open');
    });
    const failure = await dispose().catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('message', 'still open');
    expect((await scope.close()).map(({ message }) => message)).to.deep.equal(['still open']);
  });

  it('gives each disposer its own 5 s, says which took longer, and goes on', async () => {
    const { clock, scope, order, effect } = setUp();
    effect('first');
    scope.add('socket', never);
    scope.add('timer', never);
    const closed = scope.close();
    await turn();
    clock.advance(4_999);
    await turn();
    expect(scope.effects).to.deep.equal(['first', 'socket', 'timer']);
    clock.advance(1);
    await turn();
    expect(scope.effects).to.deep.equal(['first', 'socket']);
    clock.advance(5_000);
    const errors = await closed;
    expect(errors.map((error) => error instanceof CinnabarError && error.code)).to.deep.equal([
      'CINNABAR_DISPOSE_TIMEOUT',
      'CINNABAR_DISPOSE_TIMEOUT',
    ]);
    expect(errors.map(({ message }) => message)).to.deep.equal([
      'Cleaning up timer took longer than 5 s.',
      'Cleaning up socket took longer than 5 s.',
    ]);
    expect(order).to.deep.equal(['first']);
  });

  it('leaves no timer behind', async () => {
    const { clock, scope, effect } = setUp();
    effect('first');
    scope.add('second', turn);
    await scope.close();
    expect(clock.pending).to.equal(0);
  });

  it('refuses registrations from the moment at which it begins to close', async () => {
    const { scope, effect } = setUp();
    const attempts: unknown[] = [];
    const attempt = () => {
      try {
        effect('late');
      } catch (error) {
        attempts.push(error);
      }
    };
    scope.signal.addEventListener('abort', attempt);
    scope.add('disposer', attempt);
    const closed = scope.close();
    attempt();
    await closed;
    attempt();
    expect(attempts.map((error) => error instanceof CinnabarError && error.code)).to.deep.equal(
      Array.from({ length: 4 }, () => 'CINNABAR_SCOPE_CLOSED'),
    );
  });

  it('aborts its signal before it disposes', async () => {
    const { scope, order } = setUp();
    scope.add('effect', () => void order.push(`aborted: ${scope.signal.aborted}`));
    expect(scope.signal.aborted).to.equal(false);
    await scope.close();
    expect(order).to.deep.equal(['aborted: true']);
  });

  it('closes once: further calls wait for the same end', async () => {
    const { scope, order, effect } = setUp();
    effect('only');
    scope.signal.addEventListener('abort', () => void scope.close());
    expect(scope.close()).to.equal(scope.close());
    await scope.close();
    expect(order).to.deep.equal(['only']);
  });

  it('disposes exactly what is left, in reverse, whatever was taken back before', async () => {
    const steps = fc.array(fc.record({ early: fc.boolean(), fails: fc.boolean() }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (effects) => {
        const { scope, order } = setUp();
        const disposers = effects.map(({ fails }, index) =>
          scope.add(`${index}`, () => {
            order.push(`${index}`);
            if (fails) throw new Error(`${index}`);
          }),
        );
        const early = effects.flatMap((effect, index) => (effect.early ? [index] : []));
        for (const index of early) await disposers[index]?.().catch(() => undefined);
        const late = effects.flatMap((effect, index) => (effect.early ? [] : [index])).reverse();
        const errors = await scope.close();
        expect(order).to.deep.equal([...early, ...late].map(String));
        expect(errors).to.have.length(effects.filter(({ fails }) => fails).length);
        expect(scope.effects).to.deep.equal([]);
      }),
      { numRuns: 60 },
    );
  });
});
