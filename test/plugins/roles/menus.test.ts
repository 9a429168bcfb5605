import { choose, type Menu, pick, putBack } from '@cinnabar/plugin-roles/dist/context.js';
import { UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

const ROLES = ['a', 'b', 'c', 'd'];

type Step = { kind: 'pick' | 'putBack'; role: string } | { kind: 'choose'; roles: string[] };

function changeOf(menu: Menu, held: ReadonlySet<string>, step: Step) {
  if (step.kind === 'choose') return choose(menu, held, step.roles);
  return step.kind === 'pick' ? pick(menu, held, step.role) : putBack(menu, held, step.role);
}

function apply(menu: Menu, held: Set<string>, step: Step): void {
  try {
    const { give, take } = changeOf(menu, held, step);
    for (const id of give) expect(held.has(id)).to.equal(false);
    for (const id of take) expect(held.delete(id)).to.equal(true);
    for (const id of give) held.add(id);
  } catch (error) {
    expect(error).to.be.instanceOf(UserError);
  }
}

describe('roles: a menu', () => {
  it('never lets a member have more of its roles than it allows, fewer than they must keep, or any other role changed', () => {
    const bounds = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 4 }))
      .filter(([min, max]) => max === 0 || min <= max);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('pick' as const), role: fc.constantFrom(...ROLES) }),
      fc.record({ kind: fc.constant('putBack' as const), role: fc.constantFrom(...ROLES) }),
      fc.record({ kind: fc.constant('choose' as const), roles: fc.subarray([...ROLES, 'other']) }),
    );
    fc.assert(
      fc.property(bounds, fc.array(step, { maxLength: 20 }), ([min, max], steps) => {
        const menu: Menu = { id: '1', name: 'm', min, max, roles: ROLES.map((roleId) => ({ roleId })) };
        const held = new Set(['other']);
        let most = 0;
        for (const one of steps) {
          apply(menu, held, one);
          const count = held.size - 1;
          most = Math.max(most, count);
          expect(held.has('other')).to.equal(true);
          expect(count).to.be.at.most(max === 0 ? ROLES.length : max);
          expect(count).to.be.at.least(Math.min(min, most));
        }
      }),
      { numRuns: 200 },
    );
  });
});
