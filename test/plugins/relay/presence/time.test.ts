import { readPlan } from '@cinnabar/plugin-relay/dist/presence/wakes.js';
import { isQuiet, localDay } from '@cinnabar/sdk';
import { expect } from 'chai';

const at = (iso: string) => Date.parse(iso);
const next = (when: string, from: string, zone = 'UTC') => new Date(readPlan(when, zone).after(at(from))).toISOString();

describe('relay: when wake-ups are due', () => {
  it('is at that time of every day, by the clock on the wall', () => {
    expect(next('every day 9:00', '2026-01-02T08:59:00Z')).to.equal('2026-01-02T09:00:00.000Z');
    expect(next('every day 9:00', '2026-01-02T09:00:00Z')).to.equal('2026-01-03T09:00:00.000Z');
    expect(next('every day at 9:00', '2026-03-28T09:00:00Z', 'Europe/Berlin')).to.equal('2026-03-29T07:00:00.000Z');
  });

  it('is on the days that are named', () => {
    // The second of January 2026 is a Friday.
    expect(next('every weekday 18:30', '2026-01-02T19:00:00Z')).to.equal('2026-01-05T18:30:00.000Z');
    expect(next('every Mon, thursday 7:05', '2026-01-02T19:00:00Z')).to.equal('2026-01-05T07:05:00.000Z');
  });

  it('is after an interval', () => {
    expect(next('every 4h', '2026-01-02T19:00:00Z')).to.equal('2026-01-02T23:00:00.000Z');
    expect(next('EVERY 90 m', '2026-01-02T19:00:00Z')).to.equal('2026-01-02T20:30:00.000Z');
  });

  it('is refused when it is not understood, or would be too often', () => {
    for (const when of [
      '',
      'daily',
      'every',
      'every day',
      'every day 25:00',
      'every foo 9:00',
      '* * * * *',
      'every 1d2h',
    ]) {
      expect(() => readPlan(when, 'UTC'), when).to.throw(/do not understand/);
    }
    expect(() => readPlan('every 5m', 'UTC')).to.throw(/too often/);
  });
});

describe('relay: quiet hours', () => {
  const quiet = (quietHours: string, iso: string, timeZone = 'UTC') => isQuiet(at(iso), { quietHours, timeZone });

  it('go over midnight where they say so', () => {
    expect(quiet('22:00-07:00', '2026-01-02T21:59:00Z')).to.equal(false);
    expect(quiet('22:00-07:00', '2026-01-02T22:00:00Z')).to.equal(true);
    expect(quiet('22:00-07:00', '2026-01-02T06:59:00Z')).to.equal(true);
    expect(quiet('22:00-07:00', '2026-01-02T07:00:00Z')).to.equal(false);
    expect(quiet('12:00-13:00', '2026-01-02T12:30:00Z')).to.equal(true);
  });

  it('follow the time zone of the server', () => {
    expect(quiet('22:00-07:00', '2026-01-02T14:00:00Z', 'Asia/Tokyo')).to.equal(true);
    expect(localDay(at('2026-01-02T16:00:00Z'), 'Asia/Tokyo')).to.equal('2026-01-03');
  });

  it('are none by default', () => {
    expect(quiet('', '2026-01-02T03:00:00Z')).to.equal(false);
  });
});
