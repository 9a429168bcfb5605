import { findProblems } from '@cinnabar/plugin-party/dist/distribution.js';
import { expect } from 'chai';
import fc from 'fast-check';

const PARTY = ['V', 'Jackie', 'T-Bug'];

/** `quote` from the description, then the names of its items, each a single thing or a share with an amount. */
type Understood = readonly [quote: string, ...items: (string | readonly [name: string, amount: number])[]];
/** Numbers in words, as a model reads them. */
const WORDS = ['two', 'a pair of', 'ein Dutzend'];

function distribution(understood: readonly Understood[], notLoot: readonly string[] = []) {
  const items = understood.flatMap(([from, ...things]) =>
    things.map((thing) => {
      const [name, amount] = typeof thing === 'string' ? [thing, 1] : thing;
      return { name, from, amount, number: WORDS.find((words) => from.includes(words)) ?? '' };
    }),
  );
  return {
    items: items.map((item, index) => ({ id: index + 1, ...item })),
    not_loot: [...notLoot],
    assignments: items.map((_, index) => ({
      item_id: index + 1,
      character: PARTY[index % PARTY.length] ?? 'V',
      reason: 'It fits.',
    })),
  };
}

const problemsOf = (description: string, understood: readonly Understood[], notLoot?: readonly string[]) =>
  findProblems(distribution(understood, notLoot), description, PARTY);

describe('gear distribution: what is believed of a model', () => {
  it('accepts a list in which every entry became one item', () => {
    const list = 'Assault Rifle, Body Armor, Neural Processor';
    expect(
      problemsOf(list, [
        ['Assault Rifle', 'Assault Rifle'],
        ['body armor', 'Body Armor'],
        ['Neural Processor', 'Neural Processor'],
      ]),
    ).to.deep.equal([]);
  });

  for (const [description, quote] of [
    ['We got 2 SMGs from the ganger', '2 SMGs'],
    ['We got 2 SMGs from the ganger', 'SMGs'],
    ['SMG x2', 'SMG'],
    ['SMGs (2)', 'SMGs (2)'],
    ['2x SMG', '2x SMG'],
  ] as const) {
    it(`counts two things in "${description}", quoted as "${quote}"`, () => {
      expect(problemsOf(description, [[quote, 'SMG', 'SMG']])).to.deep.equal([]);
      expect(problemsOf(description, [[quote, 'SMG']]).join()).to.include('is 2 in the description');
      expect(problemsOf(description, [[quote, 'SMG', 'SMG', 'SMG']]).join()).to.include('is 2 in the description');
    });
  }

  it('leaves number words to the model, in whatever language', () => {
    expect(problemsOf('two SMGs', [['two SMGs', 'SMG', 'SMG']])).to.deep.equal([]);
    expect(problemsOf('a pair of SMGs', [['a pair of SMGs', 'SMG', 'SMG']])).to.deep.equal([]);
    expect(
      problemsOf('ein Dutzend Granaten', [['ein Dutzend Granaten', ['Granaten', 6], ['Granaten', 6]]]),
    ).to.deep.equal([]);
    expect(problemsOf('a rifle', [['a rifle', 'Rifle', 'Rifle']])).to.have.length(1);
  });

  it('lets 900 eddies be split, with nothing lost and nothing made up', () => {
    const split = (...amounts: readonly number[]) =>
      problemsOf('900 eddies', [['900 eddies', ...amounts.map((amount) => ['eddies', amount] as const)]]);
    expect(split(300, 300, 300)).to.deep.equal([]);
    expect(split(450, 450)).to.deep.equal([]);
    expect(split(300, 300)).to.deep.equal([
      '"900 eddies" is 900 in the description, but the amounts of its items make 600.',
    ]);
    expect(split(300, 300, 301)).to.have.length(1);
    expect(split(1000, -100).join()).to.include('no whole number from 1 on');
  });

  it('lets a large number be one stack, or single things', () => {
    expect(problemsOf('200 eddies', [['200 eddies', ['eddies', 200]]])).to.deep.equal([]);
    const grenades = Array.from({ length: 12 }, () => 'Grenade');
    expect(problemsOf('12 grenades', [['12 grenades', ...grenades]])).to.deep.equal([]);
    expect(problemsOf('12 grenades', [['12 grenades', 'Grenade', 'Grenade']])).to.have.length(1);
  });

  it('refuses items that the description does not contain', () => {
    expect(
      problemsOf('a rifle', [
        ['a rifle', 'Rifle'],
        ['a katana', 'Katana'],
      ]),
    ).to.deep.equal(['"a katana" is not in the description.']);
    expect(problemsOf('a rifle', [['a rifle', 'Katana']])).to.deep.equal([
      'The item "Katana" does not come from "a rifle".',
    ]);
  });

  it('refuses the same words twice, whole or in part', () => {
    expect(problemsOf('Assault Rifle', [['Assault Rifle', 'Rifle', 'Rifle']])).to.have.length(1);
    expect(
      problemsOf('Assault Rifle', [
        ['Assault Rifle', 'Assault Rifle'],
        ['Rifle', 'Rifle'],
      ]),
    ).to.deep.equal(['"rifle" is already part of another item.']);
    expect(problemsOf('SMG, SMG', [['SMG', 'SMG', 'SMG']])).to.deep.equal([]);
  });

  it('refuses a list entry that nothing accounts for, unless it is named as no loot', () => {
    const rifle: Understood = ['Rifle', 'Rifle'];
    expect(problemsOf('Rifle, armor', [rifle]).join()).to.include('Nothing accounts for "armor"');
    expect(problemsOf('Rifle\narmor', [rifle]).join()).to.include('Nothing accounts for "armor"');
    expect(problemsOf('We got a rifle and some armor', [['a rifle', 'Rifle']]).join()).to.include('some armor');
    expect(problemsOf('Rifle, nice haul', [rifle], ['nice haul'])).to.deep.equal([]);
    expect(problemsOf('A rifle, which we took from the gangers who ran', [['A rifle', 'Rifle']])).to.deep.equal([]);
  });

  it('refuses an item assigned twice, never, or that does not exist', () => {
    const good = distribution([['2 SMGs', 'SMG', 'SMG']]);
    const problems = (assignments: typeof good.assignments) => findProblems({ ...good, assignments }, '2 SMGs', PARTY);
    const [first, second] = good.assignments;
    if (first === undefined || second === undefined) throw new Error('two assignments are expected');
    expect(problems([first, second])).to.deep.equal([]);
    expect(problems([first]).join()).to.include('assigned 0 times');
    expect(problems([first, second, second]).join()).to.include('assigned 2 times');
    expect(problems([first, second, { ...second, item_id: 7 }]).join()).to.include('no item 7');
  });

  it('refuses a character who is not among those who may receive something', () => {
    const good = distribution([['a rifle', 'Rifle']]);
    expect(findProblems(good, 'a rifle', ['v'])).to.deep.equal([]);
    expect(findProblems(good, 'a rifle', ['Jackie']).join()).to.include('"V" is not one of the characters');
  });

  it('accepts every faithful reading of a counted list, and no reading with one item more, less or assigned twice', () => {
    const things = fc.uniqueArray(fc.constantFrom('rifle', 'katana', 'medkit', 'helmet', 'scope', 'drone'), {
      minLength: 1,
    });
    const counted = fc.tuple(things, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 6, maxLength: 6 }));
    fc.assert(
      fc.property(counted, fc.nat(), ([names, counts], at) => {
        const entries = names.map((name, index) => ({ name, count: counts[index] ?? 1 }));
        const quoteOf = ({ name, count }: { name: string; count: number }) =>
          count === 1 ? name : `${count} ${name}s`;
        const description = entries.map(quoteOf).join(', ');
        const reading = (change: (count: number, index: number) => number) =>
          distribution(
            entries.map((entry, index) => [
              quoteOf(entry),
              ...Array.from({ length: change(entry.count, index) }, () => entry.name),
            ]),
          );
        const chosen = at % entries.length;
        const faithful = reading((count) => count);
        expect(findProblems(faithful, description, PARTY)).to.deep.equal([]);
        for (const step of [1, -1]) {
          const off = reading((count, index) => (index === chosen ? count + step : count));
          expect(findProblems(off, description, PARTY)).not.to.deep.equal([]);
        }
        const twice = { ...faithful, assignments: [...faithful.assignments, ...faithful.assignments.slice(0, 1)] };
        expect(findProblems(twice, description, PARTY)).not.to.deep.equal([]);
      }),
    );
  });
});
