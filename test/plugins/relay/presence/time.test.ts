import { isQuiet, localDay } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { letIn, startAgentBot } from '../harness.js';

const at = (iso: string) => Date.parse(iso);

describe('relay: when wake-ups are due', () => {
  const openAt = async (iso: string) => {
    const bot = await startAgentBot({ clock: createManualClock(at(iso)) });
    await letIn(bot);
    return {
      config: (setting: string) => bot.admin(`!relay config ${setting}`),
      plan: (when: string) => bot.admin(`!relay wake "${when}" Look around`),
      /** The next time of a scheduled wake-up. */
      async next(when: string, now: string) {
        if (bot.clock.now() < at(now)) await bot.advance(at(now) - bot.clock.now());
        expect(new Date(bot.clock.now()).toISOString()).to.include(now.replace(/:00Z$/, ':'));
        const planned = await bot.admin(`!relay wake "${when}" Look around`);
        return new Date(Number(/next at <t:(\d+):f>/.exec(planned)?.[1]) * 1_000).toISOString();
      },
      [Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
    };
  };

  it('is at that time of every day, on the days that are named, or after an interval', async () => {
    // 2 January 2026 is a Friday.
    await using bot = await openAt('2026-01-02T08:59:00Z');
    expect(await bot.next('every day 9:00', '2026-01-02T08:59:00Z')).to.equal('2026-01-02T09:00:00.000Z');
    expect(await bot.next('every day 9:00', '2026-01-02T09:00:00Z')).to.equal('2026-01-03T09:00:00.000Z');
    const evening = '2026-01-02T19:00:00Z';
    expect(await bot.next('every weekday 18:30', evening)).to.equal('2026-01-05T18:30:00.000Z');
    expect(await bot.next('every Mon, thursday 7:05', evening)).to.equal('2026-01-05T07:05:00.000Z');
    expect(await bot.next('every 4h', evening)).to.equal('2026-01-02T23:00:00.000Z');
    expect(await bot.next('EVERY 90 m', evening)).to.equal('2026-01-02T20:30:00.000Z');
  });

  it('is by the clock on the wall of the server', async () => {
    await using bot = await openAt('2026-03-28T09:00:00Z');
    await bot.config('timeZone Europe/Berlin');
    expect(await bot.next('every day at 9:00', '2026-03-28T09:00:00Z')).to.equal('2026-03-29T07:00:00.000Z');
  });

  it('is refused when it is not understood, or would be too often', async () => {
    await using bot = await openAt('2026-01-02T08:59:00Z');
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
      expect(await bot.plan(when), when).to.include('do not understand');
    }
    expect(await bot.plan('every 5m')).to.include('too often');
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
