import type { TestHost } from '@cinnabar/core/testing';
import { momentOf, PersonalDataStore, wallTime, z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { cpuMsOf } from '../../support/cpu-time.js';
import { useSharedHost } from '../../support/shared-host.js';

const ZONE = 'Europe/Berlin';
/** A Friday, 11:00 in Berlin; two days later the clocks go forward. */
const NOW = Date.parse('2026-03-27T10:00:00Z');

const stored = z.object({ text: z.string(), dueAt: z.number(), repeat: z.unknown().optional() });
/** What is exported of a member, who may have no reminder. */
const exported = z.object({
  reminders: z.object({ collections: z.object({ reminders: z.record(z.string(), stored).default({}) }) }).optional(),
});

/** Sets reminders in a guild of Berlin, each for a new member, since a member's commands are limited. */
async function remindersOf({ discord, guild, general, you, resolve, settled }: TestHost) {
  you.say(general, `!set reminders guild.timeZone ${ZONE}`);
  await settled();
  const reminderOf = async (userId: string) => {
    const { reminders } = exported.parse(await resolve(PersonalDataStore).export(userId));
    return Object.values(reminders?.collections.reminders ?? {})[0];
  };
  return {
    async remind(said: string) {
      const user = discord.createUser({ name: 'asking' });
      guild.join(user);
      const { messages } = user.slash(general, 'remind', { what: said });
      await settled();
      const answer = messages.at(-1)?.content ?? '';
      return { answer, reminder: await reminderOf(user.id), again: () => reminderOf(user.id) };
    },
  };
}

function shown({ dueAt, text }: { readonly dueAt: number; readonly text: string }): string {
  const { year, month, day, hour, minute } = wallTime(dueAt, ZONE);
  return `${new Date(Date.UTC(year, month - 1, day, hour, minute)).toISOString().slice(0, 16)} ${text}`;
}

describe('when a reminder comes', () => {
  const open = useSharedHost(() => ({
    plugins: ['admin', 'reminders'],
    clock: createManualClock(NOW),
  }));

  it('is read in English and German, at the start or at the end', async () => {
    await using host = await open();
    const { remind } = await remindersOf(host);
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
    for (const [said, expected] of cases) {
      const { answer, reminder } = await remind(said);
      expect(reminder && shown(reminder), `${said}: ${answer}`).to.equal(expected);
    }
  });

  it('is refused when it has passed, is too far away, too often, or not said', async () => {
    await using host = await open();
    const { remind } = await remindersOf(host);
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
      const { answer, reminder } = await remind(said);
      expect(answer, said).to.include(reason);
      expect(reminder).to.equal(undefined);
    }
  });

  it('is read in a moment, however many spaces are typed', async () => {
    await using host = await open();
    const { remind } = await remindersOf(host);
    const gap = ' '.repeat(1_150);
    const texts = [`every day${gap}x`, `1h${gap}x`, `24.12.${gap}x`, `every Monday${gap},x`];
    const readAll = async () => {
      for (const said of texts) await remind(said);
    };
    expect(await cpuMsOf(readAll)).to.be.below(1_000);
    const { answer } = await remind(`1h${' '.repeat(3_900)}x`);
    expect(answer).to.include('That is too long: a reminder has at most 1000 characters.');
  });

  // The tests from here on move the clock.
  it('keeps to the clock of its time zone where the clocks change', async () => {
    await using host = await open();
    const { remind } = await remindersOf(host);
    const { reminder, again } = await remind('every day at 9:00 x');
    const dueAt = reminder?.dueAt ?? expect.fail('there is no reminder');
    expect(new Date(dueAt).toISOString()).to.equal('2026-03-28T08:00:00.000Z');
    await host.advance(dueAt - host.clock.now());
    expect(new Date((await again())?.dueAt ?? 0).toISOString()).to.equal('2026-03-29T07:00:00.000Z');
    // 02:30 does not exist on that day.
    const gone = momentOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, ZONE);
    expect(new Date(gone).toISOString()).to.equal('2026-03-29T01:30:00.000Z');
  });

  it('never hangs or lies in the past, whatever is typed', async () => {
    await using host = await open();
    const { remind } = await remindersOf(host);
    const now = host.clock.now();
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
    const repeating: Awaited<ReturnType<typeof remind>>[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 7 }), async (typed) => {
        const found = await remind(`${typed.join(' ')} x`);
        if (found.reminder === undefined) return;
        expect(found.reminder.dueAt).to.be.above(now);
        if (found.reminder.repeat !== undefined) repeating.push(found);
      }),
      { numRuns: 25 },
    );
    const due = Math.max(now, ...repeating.map(({ reminder }) => reminder?.dueAt ?? 0));
    await host.advance(due - now);
    for (const { again } of repeating) expect((await again())?.dueAt).to.be.above(due);
  });
});
