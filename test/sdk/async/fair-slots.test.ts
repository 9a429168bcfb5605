import { createFairSlots } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

const bounds = () => ({ perMember: 2, perGuild: 3, total: 5 });

describe('slots that members and guilds share', () => {
  it('gives as many slots as there are, in the order of the requests', async () => {
    const slots = createFairSlots(bounds);
    const waiting = () => slots.waiting().map(({ id }) => id);
    const order: string[] = [];
    const come = (id: string, member: string) => slots.acquire({ id, member, guild: 'g' }).then(() => order.push(id));
    await Promise.all([come('a', 'alice'), come('b', 'alice')]);
    const coming = [come('c', 'alice'), come('d', 'bob'), come('e', 'bob')];
    await coming[1];
    // Alice has two, so her third waits, and does not hold up bob; then the guild is full.
    expect(order).to.deep.equal(['a', 'b', 'd']);
    expect(waiting()).to.deep.equal(['c', 'e']);
    slots.release('a');
    await coming[0];
    expect(order.at(-1)).to.equal('c');
    expect(waiting()).to.deep.equal(['e']);
  });

  it('removes a waiting request that is aborted', async () => {
    const slots = createFairSlots(() => ({ perMember: 1, perGuild: 1, total: 1 }));
    const claim = (id: string) => ({ id, member: 'u', guild: 'g' });
    await slots.acquire(claim('a'));
    const giveUp = new AbortController();
    const second = slots.acquire(claim('b'), giveUp.signal);
    const third = slots.acquire(claim('c'));
    giveUp.abort();
    expect(await second).to.equal(false);
    slots.release('a');
    expect(await third).to.equal(true);
  });

  it('never exceeds its limit, whatever is requested and released', async () => {
    const person = fc.constantFrom('alice', 'bob', 'carol');
    const guildOf = fc.constantFrom('g', 'h', undefined);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(person, guildOf, fc.boolean()), { maxLength: 40 }), async (events) => {
        const slots = createFairSlots(bounds);
        const inside = new Map<string, Who>();
        for (const [index, [member, guild = `direct:${member}`, leave]] of events.entries()) {
          const [first] = inside.keys();
          if (leave && first !== undefined) {
            inside.delete(first);
            slots.release(first);
          } else {
            const id = String(index);
            void slots.acquire({ id, member, guild }).then(() => inside.set(id, { member, guild }));
          }
          for (let turn = 0; turn < 6; turn++) await Promise.resolve();
          expectRoom([...inside.values()]);
        }
      }),
      { numRuns: 50 },
    );
  });
});

interface Who {
  readonly member: string;
  readonly guild: string;
}

function expectRoom(inside: readonly Who[]): void {
  expect(inside.length).to.be.at.most(5);
  for (const who of ['alice', 'bob', 'carol']) {
    expect(inside.filter(({ member }) => member === who).length).to.be.at.most(2);
  }
  for (const where of ['g', 'h']) expect(inside.filter(({ guild }) => guild === where).length).to.be.at.most(3);
}
