import { createTestHost } from '@cinnabar/core/testing';
import { Accounts, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../web/browser.js';
import { receipt } from './receipt.js';

const DAY_MS = 24 * 60 * 60_000;
const answer = z.object({
  view: z.object({
    blocks: z.array(
      z.looseObject({
        title: z.string().optional(),
        series: z.array(z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) })).optional(),
        rows: z.array(z.object({ cells: z.array(z.unknown()) })).optional(),
      }),
    ),
  }),
});

const answers = (count: number) => ({ count, link: { page: 'accounts/answers' } });

describe('accounts: cost in the dashboard', () => {
  const open = async () => {
    const host = await createTestHost({ plugins: ['accounts', 'admin', 'web'], env: { CINNABAR_WEB: '0' } });
    const accounts = host.resolve(Accounts);
    let runs = 0;
    return {
      host,
      async spend(userId: string, model: string, cost: number) {
        runs += 1;
        const actor = { userId, guildId: host.guild.id, channelId: host.general.id };
        await accounts.record(receipt({ actor, at: host.clock.now(), id: String(runs), model, cost }));
      },
      async see(userId: string, page = `cost?guild=${host.guild.id}`) {
        const browser = openBrowser(host);
        await browser.signIn(userId);
        const { blocks } = answer.parse((await browser.get(`/api/pages/accounts/${page}`)).body).view;
        const titled = (title: string) => blocks.find((block) => block.title === title);
        return {
          rows: (title: string) => titled(title)?.rows?.map(({ cells }) => cells),
          /** The sum of each series. */
          plotted: (title: string) =>
            titled(title)?.series?.map(({ name, points }) => [name, points.reduce((sum, [, value]) => sum + value, 0)]),
        };
      },
    };
  };

  it('is plotted by model and by member, for those who moderate the server, over the days', async () => {
    const { host, spend, see } = await open();
    await using _ = host;
    await spend(host.alice.id, 'claude-x', 1);
    await host.advance(DAY_MS);
    await spend(host.bob.id, 'gpt-y', 4);
    await spend(host.alice.id, 'gpt-y', 0.5);
    const owners = await see(host.you.id);
    expect(owners.plotted('By model')).to.deep.equal([
      ['gpt-y', 4.5],
      ['claude-x', 1],
    ]);
    expect(owners.plotted('By member')).to.deep.equal([
      [`<@${host.bob.id}>`, 4],
      [`<@${host.alice.id}>`, 1.5],
    ]);
    expect(owners.rows('Models of the last 31 days')).to.deep.equal([
      ['gpt-y', { usd: 4.5 }, { measure: 2_000 }, answers(2)],
      ['claude-x', { usd: 1 }, { measure: 1_000 }, answers(1)],
    ]);
    const members = await see(host.alice.id);
    expect(members.plotted('By member'), 'what others use').to.equal(undefined);
    expect((await see(host.you.id, 'bot-cost')).plotted('By model'), 'of all servers').to.deep.equal([
      ['gpt-y', 4.5],
      ['claude-x', 1],
    ]);
  });

  it('keeps of past days the members with the highest usage, without those who deleted their data', async () => {
    const { host, spend, see } = await open();
    await using _ = host;
    const people = Array.from({ length: 8 }, (__, index) => host.discord.createUser({ name: `member${index}` }));
    for (const person of people) host.guild.join(person);
    for (const [index, person] of people.entries()) await spend(person.id, 'claude-x', index + 1);
    const ids = async () => (await see(host.you.id)).rows('Members of the last 31 days')?.map(([who]) => who);
    const largestFirst = people.map(({ id }) => ({ user: id })).toReversed();
    expect(await ids(), 'today, all of them').to.deep.equal(largestFirst);
    await host.advance(DAY_MS);
    await spend(host.bob.id, 'claude-x', 0.1);
    expect(await ids()).to.deep.equal([...largestFirst.slice(0, 5), { user: host.bob.id }]);
    await host.resolve(PersonalDataStore).forget(host.bob.id);
    expect(await ids()).to.deep.equal(largestFirst.slice(0, 5));
    expect((await see(host.you.id)).rows('Models of the last 31 days')?.[0]?.at(-1)).to.deep.equal(answers(9));
  });
});
