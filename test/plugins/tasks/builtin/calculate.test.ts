import { evaluate } from '@cinnabar/plugin-tasks/dist/builtin/tools.js';
import { UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

describe('working out an expression', () => {
  for (const [text, result] of [
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ^ 3 ^ 2', 512],
    ['0 - 2 ^ 2', -4],
    ['pow(-2, 2)', 4],
    ['2 ** 10 % 1000', 24],
    ['sqrt(16) + max(1, 5, 3)', 9],
    ['round(2.345, 2)', 2.35],
    ['mean(1, 2, 3, 4)', 2.5],
    ['2 * pi', 2 * Math.PI],
  ] as const) {
    it(`${text} = ${result}`, () => expect(evaluate(text)).to.equal(result));
  }

  for (const text of [
    'process.exit(1)',
    'constructor("return 1")()',
    'this',
    '"a" + 1',
    '[1][0]',
    'x = 1',
    '1 +',
    '',
    '1 / 0',
    'sqrt(-1)',
    'toString()',
    '-2 ^ 2',
    '__proto__',
    `${'('.repeat(80)}1${')'.repeat(80)}${'-'.repeat(80)}1`,
    '1'.repeat(600),
  ]) {
    it(`refuses ${text.slice(0, 40)} with a sentence`, () => expect(() => evaluate(text)).to.throw(UserError));
  }

  it('gives a number or a sentence for whatever there is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789+-*/^%().,esqrt ') })),
        (text) => {
          try {
            expect(evaluate(text)).to.satisfy(Number.isFinite);
          } catch (error) {
            expect(error).to.be.instanceOf(UserError);
          }
        },
      ),
    );
  });
});
