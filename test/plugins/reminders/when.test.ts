import { nextTime, readReminder } from '@cinnabar/plugin-reminders/dist/when.js';
import { momentOf, wallTime } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { cpuMsOf } from '../../support/cpu-time.js';

const ZONE = 'Europe/Berlin';
/** A Friday, 11:00 in Berlin; two days later the clocks go forward. */
const NOW = Date.parse('2026-03-27T10:00:00Z');
const reading = { now: NOW, timeZone: ZONE, shortestRepeatMs: 3_600_000 };

async function read(said: string): Promise<string> {
  const { dueAt, text } = await readReminder(said, reading);
  const { year, month, day, hour, minute } = wallTime(dueAt, ZONE);
  return `${new Date(Date.UTC(year, month - 1, day, hour, minute)).toISOString().slice(0, 16)} ${text}`.trim();
}

describe('when a reminder comes', () => {
  it('is read in English and German, at the start or at the end', async () => {
    const cases: readonly (readonly [said: string, read: string])[] = [
      ['in 2h tea', '2026-03-27T13:00 tea'],
      ['me in 2h30m to drink tea', '2026-03-27T13:30 drink tea'],
      ['1h 30m tea', '2026-03-27T12:30 tea'],
      ['in einer halben Stunde Tee', '2026-03-27T11:30 Tee'],
      ['mich in 2 Stunden an Tee', '2026-03-27T13:00 Tee'],
      ['tomorrow at 9 call Bob', '2026-03-28T09:00 call Bob'],
      ['to buy milk tomorrow at 9', '2026-03-28T09:00 buy milk'],
      ['morgen um 9 Bob anrufen', '2026-03-28T09:00 Bob anrufen'],
      ['call Bob on friday', '2026-04-03T09:00 call Bob'],
      ['dass ich morgen um 9 anrufe', '2026-03-28T09:00 ich morgen um 9 anrufe'],
      ['in 3 Tagen um 8 Post', '2026-03-30T08:00 Post'],
      ['24.12. um 18 Uhr Geschenke', '2026-12-24T18:00 Geschenke'],
      ['am 1.4.2027 lachen', '2027-04-01T09:00 lachen'],
      ['2026-04-01 08:00 rent', '2026-04-01T08:00 rent'],
      ['29.2. leap', '2028-02-29T09:00 leap'],
      ['in 1h30 tea', '2026-03-27T12:30 tea'],
      ['read chapter 31.2. tomorrow', '2026-03-28T09:00 read chapter 31.2.'],
      ['at 5pm tea', '2026-03-27T17:00 tea'],
      ['every Monday at 18:00 raid', '2026-03-30T18:00 raid'],
      ['raid every monday at 18:00', '2026-03-30T18:00 raid'],
      ['jeden Montag und Donnerstag 9:30 Sport', '2026-03-30T09:30 Sport'],
      ['täglich um 9 Wasser', '2026-03-28T09:00 Wasser'],
      ['every month on the 1st at 9:00 rent', '2026-04-01T09:00 rent'],
      ['every 4h drink', '2026-03-27T15:00 drink'],
    ];
    for (const [said, expected] of cases) expect(await read(said), said).to.equal(expected);
  });

  it('is refused when it has passed, is too far away, too often, or not said', async () => {
    for (const [said, reason] of [
      ['yesterday tea', 'passed'],
      ['in 100 years tea', 'too far'],
      ['every 5 minutes tea', 'too often'],
      ['tea', 'do not understand'],
      ['31.2. tea', 'do not understand'],
      ['31.4. 18:00 tea', 'do not understand'],
      ['30.2.2027 tea', 'do not understand'],
      ['tea on 31.11.', 'do not understand'],
      ['tomorrow 25:61 tea', 'do not understand'],
    ] as const) {
      const refusal = await readReminder(said, reading).catch((error: Error) => error.message);
      expect(refusal, said).to.include(reason);
    }
  });

  it('keeps to the clock of its time zone where the clocks change', async () => {
    const { repeat, dueAt } = await readReminder('every day at 9:00 x', reading);
    if (repeat === undefined) throw new Error('it does not repeat');
    const second = nextTime(repeat, dueAt, ZONE);
    expect(new Date(dueAt).toISOString()).to.equal('2026-03-28T08:00:00.000Z');
    expect(new Date(second).toISOString()).to.equal('2026-03-29T07:00:00.000Z');
    // 02:30 does not exist on that day.
    const gone = momentOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, ZONE);
    expect(new Date(gone).toISOString()).to.equal('2026-03-29T01:30:00.000Z');
  });

  it('never hangs or lies in the past, whatever is typed', async () => {
    const words = fc.constantFrom(
      'in',
      'every',
      'jeden',
      '2',
      '31.',
      '12.',
      '18:00',
      'h',
      'monday',
      'and',
      'um',
      'am',
      'half',
      '99',
      'tomorrow',
      'month',
      '.',
      'x',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 7 }), async (typed) => {
        const found = await readReminder(typed.join(' '), reading).catch(() => undefined);
        if (found === undefined) return;
        expect(found.dueAt).to.be.above(NOW);
        if (found.repeat !== undefined) expect(nextTime(found.repeat, found.dueAt, ZONE)).to.be.above(found.dueAt);
      }),
      { numRuns: 200 },
    );
  });

  it('is read in a moment, however many spaces are typed', async () => {
    const gap = ' '.repeat(1_150);
    const texts = [`every day${gap}x`, `1h${gap}x`, `24.12.${gap}x`, `every Monday${gap},x`];
    const readAll = () => Promise.allSettled(texts.map((said) => readReminder(said, reading)));
    expect(await cpuMsOf(readAll)).to.be.below(1_000);
    const refused = await readReminder(`1h${' '.repeat(3_900)}x`, reading).catch((error: Error) => error.message);
    expect(refused).to.equal('That is too long: a reminder has at most 1000 characters.');
  });
});
