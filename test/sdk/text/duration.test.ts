import { formatDuration, isQuiet, parseDuration } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';

describe('sdk: durations', () => {
  it('are read with units, and written in a form that is read back', () => {
    const read = ['90s', '1h30m', '1.5d', '1h 30m', '2W', '250ms', '0', '2 days', '1 hour and 30 mins'].map(
      parseDuration,
    );
    expect(read).to.deep.equal([
      90_000, 5_400_000, 129_600_000, 5_400_000, 1_209_600_000, 250, 0, 172_800_000, 5_400_000,
    ]);
    for (const wrong of ['', '5', '-5m', '5x', 'm', '1h30', 'soon', '1 month', '2 days ago'])
      expect(parseDuration(wrong)).to.equal(undefined);
    const days = (count: number) => count * 86_400_000;
    expect([days(14), days(30), 5_400_000, 0].map(formatDuration)).to.deep.equal(['2w', '30d', '1h30m', '0s']);
    fc.assert(fc.property(fc.nat({ max: days(400) }), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});

describe('sdk: quiet hours', () => {
  const isQuietAt = (time: string, quietHours: string, timeZone = 'UTC') =>
    isQuiet(Date.parse(`2026-07-01T${time}:00Z`), { quietHours, timeZone });

  it('begin and end at the minute in their time zone, go over midnight, and are never when empty', () => {
    expect(['21:59', '22:00', '06:59', '07:00'].map((time) => isQuietAt(time, '22:00-07:00'))).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    expect(['09:14', '09:15', '17:30'].map((time) => isQuietAt(time, '09:15-17:30'))).to.deep.equal([
      false,
      true,
      false,
    ]);
    expect([isQuietAt('12:00', ''), isQuietAt('12:00', '12:00-12:00')]).to.deep.equal([false, false]);
    // Berlin is two hours ahead in July.
    expect([
      isQuietAt('20:00', '22:00-07:00', 'Europe/Berlin'),
      isQuietAt('05:00', '22:00-07:00', 'Europe/Berlin'),
    ]).to.deep.equal([true, false]);
  });
});
