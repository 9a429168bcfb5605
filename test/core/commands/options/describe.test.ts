import { option, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { described, descriptionOf } from '../support/harness.js';

const CASES: readonly (readonly [name: string, schema: z.ZodType, expected: string])[] = [
  ['text', z.string(), '<thing> text'],
  ['a link', z.url(), '<thing> text'],
  ['a number', z.number(), '<thing> number'],
  ['a bounded whole number', z.number().int().min(2).max(100), '<thing> whole number from 2 to 100'],
  ['exclusive bounds', z.int().gt(2).lt(10), '<thing> whole number from 3 to 9'],
  ['a positive whole number', z.int().positive(), '<thing> whole number of at least 1'],
  ['a bounded fraction', z.number().max(1.5), '<thing> number of at most 1.5'],
  ['a coerced number', z.coerce.number().min(1), '<thing> number of at least 1'],
  ['yes or no', z.boolean(), '<thing> yes or no'],
  ['an enum', z.enum(['plain', 'terminal']), '<plain|terminal> one of plain, terminal'],
  ['a literal', z.literal([4, 6, 20]), '<4|6|20> one of 4, 6, 20'],
  ['a union of literals', z.union([z.literal('a'), z.literal('b')]), '<a|b> one of a, b'],
  ['an optional one', z.string().optional(), '[thing] text'],
  ['a default', z.int().default(6), '[thing=6] whole number'],
  ['a default that is a choice', z.enum(['a', 'b']).default('b'), '[a|b=b] one of a, b'],
  ['a nullable one', z.string().nullable(), '[thing] text'],
  ['a caught one', z.int().catch(3), '[thing] whole number'],
  ['a transformed one', z.int().min(1).transform(String), '<thing> whole number of at least 1'],
  ['a piped one', z.string().pipe(z.coerce.number()), '<thing> text'],
  ['a preprocessed one', z.preprocess((value) => value, z.int()), '<thing> whole number'],
  [
    'a refined one',
    z
      .int()
      .refine((n) => n % 2 === 0)
      .default(2),
    '[thing=2] whole number',
  ],
  ['a lazy read-only one', z.lazy(() => z.string().readonly()), '<thing> text'],
  ['wrappers in wrappers', z.int().max(9).nullable().default(null).readonly(), '[thing] whole number of at most 9'],
  ['a user', option.user(), '<thing> user'],
  ['an optional member', option.member().optional(), '[thing] member'],
  ['a transformed member', option.member().transform((member) => member.id), '<thing> member'],
  ['a described role', option.role().describe('which'), '<thing> role'],
  ['a duration', option.duration(), '<thing> duration such as 1h30m'],
  [
    'a bounded duration',
    option.duration().max(60_000).default(1_500),
    '[thing=1s500ms] duration such as 1h30m of at most 1m',
  ],
  ['the rest', option.rest(), '<thing> text to the end of the message'],
];

describe('the description of an option', () => {
  for (const [name, schema, expected] of CASES) {
    it(`reads ${name}`, () => {
      expect(described(schema)).to.equal(expected);
    });
  }

  it('finds the description on any layer, the outermost first', () => {
    expect(descriptionOf('a', z.string().describe('inner').optional())).to.equal('inner');
    expect(descriptionOf('a', z.string().describe('inner').optional().describe('outer'))).to.equal('outer');
    expect(descriptionOf('max-players', z.int())).to.equal('max players');
  });

  it('names an option rather than forty characters of choices', () => {
    const many = z.enum(Array.from({ length: 20 }, (_, index) => `choice${index}`));
    expect(described(many)).to.match(/^<thing> one of choice0, choice1/);
  });

  it('refuses what cannot be typed', () => {
    expect(described(z.object({ x: z.string() }))).to.equal(undefined);
    expect(described(z.array(z.string()).optional())).to.equal(undefined);
  });
});
