import { parseDuration } from '@cinnabar/core/internal/commands/options/convert';
import { formatDuration } from '@cinnabar/core/internal/commands/options/usage';
import { expect } from 'chai';
import fc from 'fast-check';

describe('durations', () => {
  const cases = [
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1.5h', 5_400_000],
    ['1W', 604_800_000],
    ['250ms', 250],
    ['0s', 0],
  ] as const;
  for (const [text, ms] of cases) {
    it(`reads ${text}`, () => {
      expect(parseDuration(text)).to.equal(ms);
    });
  }

  for (const text of ['', '90', 'h', '1h 30m', '-5m', '1y', '5 minutes', '1h30']) {
    it(`does not guess at "${text}"`, () => {
      expect(parseDuration(text)).to.equal(undefined);
    });
  }

  it('writes what it reads back', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 * 365 * 86_400_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).to.equal(ms);
      }),
    );
  });
});
