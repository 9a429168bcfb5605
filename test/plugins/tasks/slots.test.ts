import { createSlots } from '@cinnabar/plugin-tasks/dist/running/worker-pool.js';
import { expect } from 'chai';
import fc from 'fast-check';

const never = () => new AbortController().signal;
const bounds = async () => ({ perMember: 2, perGuild: 3, total: 5 });

describe('worker slots for tasks', () => {
  it('gives as many slots as there are, in the order of the requests', async () => {
    const slots = createSlots();
    const order: string[] = [];
    const come = (id: string, userId: string) =>
      slots.acquire({ id, userId, guildId: 'g' }, bounds, never()).then(() => order.push(id));
    await Promise.all([come('a', 'alice'), come('b', 'alice')]);
    const waiting = [come('c', 'alice'), come('d', 'bob'), come('e', 'bob')];
    await waiting[1];
    // Alice has two tasks, so her third one waits without delaying bob; then the guild's limit is reached.
    expect(order).to.deep.equal(['a', 'b', 'd']);
    expect([slots.placeOf('c'), slots.placeOf('e')]).to.deep.equal([1, 2]);
    slots.release('a');
    await waiting[0];
    expect(order.at(-1)).to.equal('c');
    expect(slots.placeOf('e')).to.equal(1);
  });

  it('removes a waiting request that is aborted', async () => {
    const slots = createSlots();
    const one = { perMember: 1, perGuild: 1, total: 1 };
    await slots.acquire({ id: 'a', userId: 'u', guildId: null }, async () => one, never());
    const giveUp = new AbortController();
    const second = slots.acquire({ id: 'b', userId: 'u', guildId: null }, async () => one, giveUp.signal);
    const third = slots.acquire({ id: 'c', userId: 'u', guildId: null }, async () => one, never());
    await Promise.resolve();
    giveUp.abort();
    expect(await second).to.equal(false);
    slots.release('a');
    expect(await third).to.equal(true);
  });

  it('never exceeds its limit, whatever is requested and released', async () => {
    const person = fc.constantFrom('alice', 'bob', 'carol');
    const guild = fc.constantFrom('g', 'h', null);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(person, guild, fc.boolean()), { maxLength: 40 }), async (events) => {
        const slots = createSlots();
        const inside = new Map<string, Who>();
        for (const [index, [userId, guildId, leave]] of events.entries()) {
          const [first] = inside.keys();
          if (leave && first !== undefined) {
            inside.delete(first);
            slots.release(first);
          } else {
            const id = String(index);
            void slots
              .acquire({ id, userId, guildId }, bounds, never())
              .then(() => inside.set(id, { userId, guildId }));
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
  readonly userId: string;
  readonly guildId: string | null;
}

function expectRoom(inside: readonly Who[]): void {
  expect(inside.length).to.be.at.most(5);
  for (const who of ['alice', 'bob', 'carol']) {
    expect(inside.filter(({ userId }) => userId === who).length).to.be.at.most(2);
  }
  for (const where of ['g', 'h']) expect(inside.filter(({ guildId }) => guildId === where).length).to.be.at.most(3);
}
