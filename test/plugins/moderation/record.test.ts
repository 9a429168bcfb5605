import { createTestHost } from '@cinnabar/core/testing';
import { type Cases, createCases } from '@cinnabar/plugin-moderation/dist/cases.js';
import { collections, settings } from '@cinnabar/plugin-moderation/dist/settings.js';
import { definePlugin, type ModerationCase } from '@cinnabar/sdk';
import { expect } from 'chai';

const GUILD = '80351110224678912';

const caseAbout = (userId: string): Omit<ModerationCase, 'number'> => ({
  act: 'kick',
  state: 'done',
  at: 1,
  userId,
  moderatorId: '80351110224678900',
  origin: 'bot',
});

async function numbersIn(cases: Cases): Promise<readonly number[]> {
  const numbers: number[] = [];
  for await (const { number } of cases.newestFirst(GUILD)) numbers.push(number);
  return numbers;
}

describe('moderation: the record of a guild', () => {
  it('deletes what is beyond its bound, but for open cases, which go when they are closed', async () => {
    let opened: Cases | undefined;
    const record = definePlugin({
      manifest: { id: 'record', version: '1.0.0', description: 'Keeps cases' },
      settings,
      collections,
      setup(context) {
        opened = createCases(context);
        context.personalData({ export: opened.export, forget: async () => undefined });
      },
    });
    await using host = await createTestHost({
      plugins: [record],
      settings: { record: { casesPerServer: 500 } },
    });
    await host.settled();
    if (opened === undefined) throw new Error('the plugin has not started');
    const cases: Cases = opened;
    const drafts = Array.from({ length: 500 }, (_, n) => caseAbout(n === 0 ? '1' : '2'));
    await cases.addPast(GUILD, drafts, ({ userId }) => userId === '1');
    const { number } = await cases.open(GUILD, caseAbout('3'));
    expect(number).to.equal(501);
    expect(await cases.find(GUILD, 2)).to.equal(undefined);
    const numbers = await numbersIn(cases);
    expect(numbers).to.have.length(452);
    expect(numbers.slice(-2)).to.deep.equal([51, 1]);
    expect((await cases.ofMember(GUILD, '1')).map((one) => one.number)).to.deep.equal([1]);

    // The next block contains no open case, so it is deleted whole, which leaves a gap.
    await cases.addPast(
      GUILD,
      Array.from({ length: 49 }, () => caseAbout('2')),
      () => false,
    );
    await cases.open(GUILD, caseAbout('3'));
    expect((await numbersIn(cases)).slice(-2)).to.deep.equal([101, 1]);
    await cases.close(GUILD, 1);
    expect(await cases.find(GUILD, 1)).to.equal(undefined);
    expect(await cases.ofMember(GUILD, '1')).to.deep.equal([]);
  });
});
