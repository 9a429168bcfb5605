import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

describe('working out an expression', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['tasks'] });
  });
  after(() => host[Symbol.asyncDispose]());

  /** The result, or the error sentence. */
  const calculate = async (expression: string): Promise<unknown> => {
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const call = { name: 'calculate', arguments: { expression }, actor, origin: 'test' };
    const outcome = await host.resolve(Tools).invoke(call);
    if (outcome.status === 'done') return outcome.output;
    if (outcome.status !== 'failed') throw new Error(`the call is ${outcome.status}`);
    expect(outcome.error.message).to.not.include('something went wrong inside');
    return outcome.error.message;
  };

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
    it(`${text} = ${result}`, async () => expect(await calculate(text)).to.equal(result));
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
    it(`refuses ${text.slice(0, 40)} with a sentence`, async () => expect(await calculate(text)).to.be.a('string'));
  }

  it('returns a number or a sentence for any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789+-*/^%().,esqrt ') })),
        async (text) => {
          const result = await calculate(text);
          expect(typeof result === 'string' || Number.isFinite(result), String(result)).to.equal(true);
        },
      ),
    );
  });
});
