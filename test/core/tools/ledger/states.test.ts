import { createMemoryDriver } from '@cinnabar/core/testing';
import { CALL_STATES, type CallState } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { alice, ledgerOn } from '../harness.js';

const FINAL: readonly CallState[] = ['done', 'failed', 'denied', 'expired', 'unknown'];

/** The states of a call after each requested transition, and after a restart. */
async function livedThrough(wishes: readonly CallState[]) {
  const driver = createMemoryDriver();
  const clock = createManualClock();
  const ledger = ledgerOn(driver, clock);
  await ledger.open({
    id: 'c1',
    tool: 'roll',
    plugin: 'dice',
    origin: 'chat',
    input: {},
    argumentsHash: 'abc',
    actor: alice,
  });
  const states: CallState[] = ['proposed'];
  for (const wish of wishes) if ((await ledger.move('c1', CALL_STATES, wish)) !== undefined) states.push(wish);
  const again = ledgerOn(driver, clock);
  await again.recover();
  const left = await again.get('c1');
  return { states, last: states.at(-1) ?? 'proposed', afterRestart: left?.state };
}

describe('the state machine of a call', () => {
  it('executes at most once, after an approval where it was held, never after an end; a restart ends it', async () => {
    const wishes = fc.array(fc.constantFrom(...CALL_STATES), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(wishes, async (wished) => {
        const { states, last, afterRestart } = await livedThrough(wished);
        const ran = states.indexOf('executing');
        expect(states.filter((state) => state === 'executing').length).to.be.at.most(1);
        expect(states.slice(0, -1).filter((state) => FINAL.includes(state))).to.deep.equal([]);
        if (states.includes('done')) expect(ran).to.be.greaterThan(0);
        if (ran > 0 && states.includes('pending'))
          expect(states.indexOf('approved')).to.be.within(states.indexOf('pending'), ran);
        expect(afterRestart).to.equal(FINAL.includes(last) ? last : last === 'executing' ? 'unknown' : 'expired');
      }),
      { numRuns: 200 },
    );
  });
});
