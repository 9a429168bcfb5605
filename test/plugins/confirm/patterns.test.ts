import {
  briefPatternWords,
  choicesOf,
  fits,
  patternLike,
  patternWords,
  permits,
  usuallyFixed,
} from '@cinnabar/plugin-confirm/dist/grants.js';
import { expect } from 'chai';
import fc from 'fast-check';

const names = ['channel', 'text', 'count', 'tags', 'deep', '__proto__', 'constructor', 'toString'];
const value = fc.oneof(
  fc.constantFrom('a', 'b', '', 'x'.repeat(100), 'two\nlines'),
  fc.integer({ min: 0, max: 2 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.constantFrom('a', 'b', 1), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('a', '__proto__'), fc.constantFrom(1, 'a', null)),
);
/** Few values, so that two calls are often equal. */
const input = fc.dictionary(fc.constantFrom(...names), value);
const chosen = fc.subarray(names).map((some) => new Set(some));
const place = fc.constantFrom('1', '2');
const call = fc
  .record({ input, channelId: place })
  .map(({ input: given, channelId }) => ({ input: given, actor: { userId: '1', guildId: '1', channelId } }));

/** A call and another one, often with the same arguments except for some values. */
const pair = call.chain((one) =>
  fc.tuple(
    fc.constant(one),
    fc.oneof(
      call,
      fc.dictionary(fc.constantFrom(...names), value).map((more) => {
        const changed = Object.entries(more).filter(([name]) => Object.hasOwn(one.input, name));
        return { ...one, input: Object.fromEntries([...Object.entries(one.input), ...changed]) };
      }),
    ),
  ),
);

const json = (of: unknown) => JSON.stringify(of);
const typeOf = (of: unknown) => (of === null ? 'null' : Array.isArray(of) ? 'list' : typeof of);

describe('a pattern of arguments', () => {
  it('covers the call that it was made of', () => {
    fc.assert(
      fc.property(call, chosen, (one, fixed) => {
        expect(fits(patternLike(one, fixed), one)).to.equal(true);
      }),
    );
  });

  it('never covers more than it says: other arguments, other values of what is fixed, other types, another channel', () => {
    let covered = 0;
    fc.assert(
      fc.property(pair, chosen, ([one, other], fixed) => {
        if (!fits(patternLike(one, fixed), other)) return;
        covered += 1;
        expect(other.actor.channelId).to.equal(one.actor.channelId);
        expect(Object.keys(other.input).sort()).to.deep.equal(Object.keys(one.input).sort());
        const mayChange = new Set(choicesOf(one.input).filter((name) => !fixed.has(name)));
        for (const [name, was] of Object.entries(one.input)) {
          const is = Object.entries(other.input).find(([of]) => of === name)?.[1];
          if (mayChange.has(name)) expect(typeOf(is)).to.equal(typeOf(was));
          else expect(sorted(is)).to.equal(sorted(was));
        }
      }),
      { numRuns: 2000 },
    );
    expect(covered).to.be.above(100);
  });

  it('covers nothing but the very same arguments, when all are fixed', () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const same = sorted(one.input) === sorted(other.input) && one.actor.channelId === other.actor.channelId;
        expect(fits(patternLike(one, new Set(names)), other)).to.equal(same);
      }),
      { numRuns: 2000 },
    );
  });

  it('is, by default, everything but long texts', () => {
    fc.assert(
      fc.property(input, (given) => {
        const fixed = usuallyFixed(given);
        for (const [name, is] of Object.entries(given)) {
          const isLong = typeof is === 'string' && (is.length >= 80 || is.includes('\n'));
          expect(fixed.has(name), name).to.equal(!isLong);
        }
      }),
    );
  });

  it('fixes what cannot be shown as a choice', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, 'x'.repeat(100)]));
    const one = { input: { ...many, ['n'.repeat(101)]: 'x' }, actor: { userId: '1', guildId: '1', channelId: '1' } };
    const pattern = patternLike(one, new Set());
    expect(fits(pattern, { ...one, input: { ...one.input, a24: 'other' } })).to.equal(true);
    expect(fits(pattern, { ...one, input: { ...one.input, a25: 'other' } })).to.equal(false);
    expect(fits(pattern, { ...one, input: { ...one.input, ['n'.repeat(101)]: 'y' } })).to.equal(false);
  });

  it('says every fixed value and every type in words', () => {
    fc.assert(
      fc.property(call, chosen, (one, fixed) => {
        const words = patternWords('tool', patternLike(one, fixed));
        for (const name of Object.keys(one.input)) expect(words).to.contain(`${name} is `);
        for (const name of choicesOf(one.input))
          expect(words.includes(`${name} is any `), name).to.equal(!fixed.has(name));
      }),
    );
  });

  it('says in few words all that may change, or nothing', () => {
    fc.assert(
      fc.property(call, chosen, fc.integer({ min: 10, max: 120 }), (one, fixed, longest) => {
        const pattern = patternLike(one, fixed);
        const words = briefPatternWords('tool', pattern, ({ length }) => length <= longest);
        const open = choicesOf(one.input).filter((name) => !fixed.has(name));
        if (words === undefined) return;
        expect(words.length).to.be.at.most(longest);
        for (const name of open) expect(words).to.contain(`${name} is any `);
        const rest = Object.keys(one.input).filter((name) => !open.includes(name));
        if (!words.includes('as on the card')) for (const name of rest) expect(words).to.contain(`${name} is `);
      }),
    );
  });

  it('of a destructive tool may leave nothing open, whatever a click claims', () => {
    const destructive = { any: false, like: true, loosen: false };
    fc.assert(
      fc.property(call, chosen, (one, fixed) => {
        const isOpen = choicesOf(one.input).some((name) => !fixed.has(name));
        expect(permits(destructive, patternLike(one, fixed))).to.equal(!isOpen);
      }),
    );
    expect(permits(destructive, { kind: 'any' })).to.equal(false);
  });

  /** JSON with sorted keys. */
  function sorted(of: unknown): string {
    if (typeof of !== 'object' || of === null || Array.isArray(of)) return json(of);
    return json([
      'object',
      Object.entries(of)
        .map(([name, is]) => [name, sorted(is)])
        .sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    ]);
  }
});
