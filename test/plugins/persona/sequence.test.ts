import { setImmediate } from 'node:timers/promises';
import { PersonaActions, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { type PersonaHarness, plan, set, usePersonaHost } from './harness.js';

const ACTIONS: Readonly<Record<string, { readonly after?: readonly string[]; readonly parallel?: boolean }>> = {
  A: {},
  B: { after: ['A'], parallel: true },
  C: { after: ['B'], parallel: true },
  D: { after: ['E'] },
  E: { after: ['D'], parallel: true },
  F: { parallel: true },
};

/** The actions of each batch that ran, in order. */
type Batches = string[][];

/** Adds the actions to the host's persona; each of them takes a moment. @returns the batches, and a function that removes the actions */
function teach({ resolve }: PersonaHarness) {
  const batches: Batches = [];
  let running = 0;
  const actions = resolve(PersonaActions);
  const remove = Object.entries(ACTIONS).map(([name, more]) =>
    actions.register('persona', {
      name,
      description: name,
      contextNeeded: '',
      result: z.object({}),
      ...more,
      async execute() {
        if (running === 0) batches.push([]);
        running += 1;
        batches.at(-1)?.push(name);
        for (let turn = 0; turn < 3; turn += 1) await setImmediate();
        running -= 1;
        return name;
      },
    }),
  );
  remove.push(actions.chain('persona', { name: 'ALL', description: '', actions: ['C', 'GONE', 'A', 'B'] }));
  return {
    batches,
    async [Symbol.asyncDispose]() {
      for (const one of remove) await one();
    },
  };
}

/** A plan of these actions; their purposes differ, so that repeated actions are no loop. */
const planOf = (names: readonly string[], more?: { canExtend?: boolean }) =>
  plan(
    names.map((action, index) => ({ action, context: PURPOSES[index] ?? `${index}` })),
    more,
  );
const PURPOSES = ['ice', 'wood', 'stone', 'cloth', 'rope', 'glass', 'sand', 'wool', 'tin', 'clay', 'oil', 'salt'];

/** The names in the messages of the persona's events of this type: of the sequence that it carries out, or of what it adds. */
const sequences = ({ events }: PersonaHarness, type: 'planned' | 'extended') =>
  events
    .filter((event) => event.type === 'system')
    .filter(({ event }) => event === type)
    .map(({ message }) => [...message.matchAll(/[A-Z]+/g)].map(([name]) => name));

const dropped = ({ events }: PersonaHarness) =>
  events
    .filter((event) => event.type === 'system')
    .filter(({ event }) => event === 'action_dropped')
    .map(({ message }) => message);

const anyNames = fc.array(fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'DONE', 'ALL', 'GONE', 'b '), {
  minLength: 1,
  maxLength: 30,
});

describe('persona: the sequence of a plan', () => {
  const open = usePersonaHost();

  it('keeps the order of the plan, but for what has to come first', async () => {
    await using harness = await open([
      planOf(['C', 'F', 'B', 'A', 'DONE']),
      planOf(['A'], { canExtend: true }),
      planOf(['B', 'A']),
      planOf(['D', 'E']),
    ]);
    await using _ = teach(harness);
    for (let run = 0; run < 3; run += 1) await harness.hears('Go on');
    expect(sequences(harness, 'planned')).to.deep.equal([['F', 'A', 'B', 'C', 'DONE'], ['A'], ['D', 'E']]);
    expect(sequences(harness, 'extended'), 'A was completed before').to.deep.equal([['B', 'A']]);
  });

  it('writes chains out, without the parts that are not there', async () => {
    await using harness = await open([planOf(['ALL', 'GONE', 'nothing'])]);
    await using _ = teach(harness);
    await harness.hears('Go on');
    expect(sequences(harness, 'planned')).to.deep.equal([['A', 'B', 'C']]);
    expect(dropped(harness)).to.deep.equal(['there is no action called "GONE"', 'there is no action called "nothing"']);
  });

  it('holds for any plan: bounded, ended by its end, dependencies first', async () => {
    let names: readonly string[] = [];
    await using harness = await open(() => planOf(names));
    await using learned = await teach(harness);
    await fc.assert(
      fc.asyncProperty(anyNames, fc.integer({ min: 1, max: 12 }), async (given, most) => {
        names = given;
        await set(harness, 'maxActions', most);
        learned.batches.length = 0;
        await harness.hears('Go on');
        const planned = sequences(harness, 'planned').at(-1) ?? expect.fail('nothing was planned');
        expect(learned.batches.flat().length).to.be.at.most(most);
        // One more than the limit, which leads to an event.
        expect(planned.length).to.be.at.most(most + 1);
        expect(planned.slice(0, -1)).to.not.include('DONE');
        const first = (name: string) => planned.indexOf(name);
        if (first('A') >= 0 && first('B') >= 0) expect(first('A')).to.be.below(first('B'));
        if (first('B') >= 0 && first('C') >= 0) expect(first('B')).to.be.below(first('C'));
      }),
      { numRuns: 6 },
    );
  });

  it('runs at the same time only different neighbours that may, and that do not wait for one another', async () => {
    let names: readonly string[] = ['B', 'F', 'E', 'F', 'C', 'A'];
    await using harness = await open(() => planOf(names));
    await using learned = await teach(harness);
    await set(harness, 'maxActions', 30);
    await harness.hears('Go on');
    expect(learned.batches).to.deep.equal([['F', 'E'], ['F'], ['A'], ['B'], ['C']]);
    await fc.assert(
      fc.asyncProperty(anyNames, async (given) => {
        names = given;
        learned.batches.length = 0;
        await harness.hears('Go on');
        const planned = sequences(harness, 'planned').at(-1) ?? expect.fail('nothing was planned');
        const ran = learned.batches.flat();
        expect(ran).to.deep.equal(planned.slice(0, ran.length));
        for (const batch of learned.batches.filter(({ length }) => length > 1)) {
          expect(batch.filter((name) => ACTIONS[name]?.parallel !== true)).to.deep.equal([]);
          expect(new Set(batch).size).to.equal(batch.length);
          for (const [at, name] of batch.entries())
            expect(batch.slice(0, at).filter((one) => ACTIONS[name]?.after?.includes(one))).to.deep.equal([]);
        }
      }),
      { numRuns: 6 },
    );
  });
});
