import { defineAction } from '@cinnabar/plugin-persona/dist/actions/action.js';
import { isQuietNow } from '@cinnabar/plugin-persona/dist/proactive.js';
import { nextBatch, toSequence } from '@cinnabar/plugin-persona/dist/running/plan.js';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

const action = (name: string, more: { after?: readonly string[]; parallel?: boolean; kind?: 'end' } = {}) =>
  defineAction({ name, description: name, contextNeeded: '', result: z.object({}), execute: () => name, ...more });

const ACTIONS = [
  action('A'),
  action('B', { after: ['A'], parallel: true }),
  action('C', { after: ['B'], parallel: true }),
  action('D', { after: ['E'] }),
  action('E', { after: ['D'], parallel: true }),
  action('F', { parallel: true }),
  action('DONE', { kind: 'end' }),
];
const CHAINS = [{ name: 'ALL', description: '', actions: ['C', 'GONE', 'A', 'B'] }];
const repertoire = { actions: ACTIONS, chains: CHAINS };
const steps = (names: readonly string[]) => names.map((name) => ({ action: name, context: '' }));
const names = (planned: readonly { readonly action: { readonly name: string } }[]) =>
  planned.map((one) => one.action.name);
const anyNames = fc.array(fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'DONE', 'ALL', 'GONE', 'b '), {
  maxLength: 30,
});

describe('persona: the sequence of a plan', () => {
  it('keeps the order of the plan, but for what has to come first', () => {
    expect(names(toSequence(steps(['C', 'F', 'B', 'A', 'DONE']), repertoire, 10).planned)).to.deep.equal([
      'F',
      'A',
      'B',
      'C',
      'DONE',
    ]);
    expect(names(toSequence(steps(['B', 'A']), repertoire, 10, ['A']).planned), 'A was completed before').to.deep.equal(
      ['B', 'A'],
    );
    expect(names(toSequence(steps(['D', 'E']), repertoire, 10).planned), 'they wait for one another').to.deep.equal([
      'D',
      'E',
    ]);
  });

  it('writes chains out, without the parts that are not there', () => {
    const { planned, dropped } = toSequence(steps(['ALL', 'GONE', 'nothing']), repertoire, 10);
    expect(names(planned)).to.deep.equal(['A', 'B', 'C']);
    expect(dropped).to.deep.equal(['GONE', 'nothing']);
  });

  it('holds for any plan: bounded, ended by its end, dependencies first', () => {
    fc.assert(
      fc.property(anyNames, fc.integer({ min: 1, max: 12 }), (given, most) => {
        const planned = names(toSequence(steps(given), repertoire, most).planned);
        expect(planned.length).to.be.at.most(most);
        expect(planned.slice(0, -1)).to.not.include('DONE');
        const first = (name: string) => planned.indexOf(name);
        if (first('A') >= 0 && first('B') >= 0) expect(first('A')).to.be.below(first('B'));
        if (first('B') >= 0 && first('C') >= 0) expect(first('B')).to.be.below(first('C'));
      }),
    );
  });

  it('runs at the same time only different neighbours that may, and that do not wait for one another', () => {
    fc.assert(
      fc.property(anyNames, (given) => {
        const { planned } = toSequence(steps(given), repertoire, 30);
        const batch = nextBatch(planned);
        expect(names(batch)).to.deep.equal(names(planned).slice(0, batch.length));
        if (planned.length > 0) expect(batch).to.not.have.length(0);
        if (batch.length < 2) return;
        expect(batch.every((one) => one.action.parallel)).to.equal(true);
        expect(new Set(names(batch)).size).to.equal(batch.length);
        for (const one of batch)
          expect(one.action.after.filter((name) => names(batch).includes(name))).to.deep.equal([]);
      }),
    );
  });
});

describe('persona: quiet hours', () => {
  const at = (hour: number) => Date.UTC(2026, 0, 1, hour, 30);
  const cases = [
    { quietFrom: 22, quietTo: 8, utcOffset: 0, quiet: [22, 23, 0, 7], awake: [8, 12, 21] },
    { quietFrom: 1, quietTo: 6, utcOffset: 0, quiet: [1, 5], awake: [0, 6, 23] },
    { quietFrom: 22, quietTo: 8, utcOffset: 3, quiet: [19, 4], awake: [5, 18] },
    { quietFrom: 5, quietTo: 5, utcOffset: 0, quiet: [], awake: [4, 5, 6] },
  ];
  for (const { quiet, awake, ...hours } of cases) {
    it(`from ${hours.quietFrom} to ${hours.quietTo}, ${hours.utcOffset} h ahead of UTC`, () => {
      expect(quiet.filter((hour) => !isQuietNow(hours, at(hour)))).to.deep.equal([]);
      expect(awake.filter((hour) => isQuietNow(hours, at(hour)))).to.deep.equal([]);
    });
  }
});
