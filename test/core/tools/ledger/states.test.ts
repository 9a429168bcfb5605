import { afterRestart, isFinal, mayFollow, TRANSITIONS } from '@cinnabar/core/internal/tools/ledger';
import { CALL_STATES, type CallState } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

/** Any attempts at moving a call, of which only those that the table allows happen. */
const path = fc.array(fc.constantFrom(...CALL_STATES), { maxLength: 40 }).map((wishes) => {
  const states: CallState[] = ['proposed'];
  for (const wish of wishes) {
    const now = states.at(-1);
    if (now !== undefined && mayFollow(now, wish)) states.push(wish);
  }
  return states;
});

describe('the state machine of a call', () => {
  it('executes at most once on every path', () => {
    fc.assert(fc.property(path, (states) => states.filter((state) => state === 'executing').length <= 1));
  });

  it('leaves no final state', () => {
    fc.assert(fc.property(path, (states) => states.slice(0, -1).every((state) => !isFinal(state))));
  });

  it('is done only after it executed, and executes never after a refusal', () => {
    fc.assert(
      fc.property(path, (states) => {
        const ran = states.indexOf('executing');
        expect(states.includes('done')).to.satisfy((done: boolean) => !done || ran > 0);
        expect(states.slice(0, Math.max(0, ran))).not.to.include.members(['denied']);
      }),
    );
  });

  it('executes what was held only when it was approved', () => {
    fc.assert(
      fc.property(path, (states) => {
        if (!states.includes('pending') || !states.includes('executing')) return;
        expect(states.indexOf('approved')).to.be.within(states.indexOf('pending'), states.indexOf('executing'));
      }),
    );
  });

  it('is final after a restart, and unknown only if it was executing', () => {
    for (const state of CALL_STATES) {
      const after = afterRestart(state);
      expect(isFinal(after)).to.equal(true);
      expect(after === 'unknown').to.equal(state === 'executing' || state === 'unknown');
      expect(after === state || TRANSITIONS[state].length > 0).to.equal(true);
    }
  });
});
