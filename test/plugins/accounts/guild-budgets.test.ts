import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Accounts, budgetRefusal } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from '../admin/harness.js';
import { receipt } from './receipt.js';

const DAY = 86_400_000;

describe('accounts: budgets of a server, set from Discord', () => {
  let host: TestHost;
  let say: ReturnType<typeof answering>;
  let answers = 0;
  before(async () => {
    host = await createTestHost({ plugins: ['accounts', 'admin'] });
    say = answering(host);
    // Advances to the first of a month.
    const now = new Date(host.clock.now());
    await host.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime());
  });
  after(() => host[Symbol.asyncDispose]());

  const actorOf = (who: 'alice' | 'bob') => ({
    userId: host[who].id,
    guildId: host.guild.id,
    channelId: host.general.id,
  });
  const answer = (who: 'alice' | 'bob') => {
    answers += 1;
    return host.resolve(Accounts).record(receipt({ id: `${answers}`, actor: actorOf(who), at: host.clock.now() }));
  };
  const check = (who: 'alice' | 'bob') => host.resolve(Accounts).check(actorOf(who));

  it('limit each member, and the members of a role otherwise', async () => {
    expect(await say(host.alice, '!budget set member 1000 tokens a day')).to.include('You may not do that');
    expect(await say(host.you, '!budget set member 1k tokens a day')).to.equal('Each member: 1,000 tokens a day.');
    const supporters = host.guild.createRole({ name: 'Supporters' });
    host.guild.giveRole(host.bob, supporters);
    expect(await say(host.you, '!budget role Supporters 1M tokens a day')).to.include('1,000,000 tokens a day');
    expect(await say(host.you, '!budget role @everyone 2k tokens a day')).to.equal(
      'Members of @everyone: 2,000 tokens a day.',
    );
    await say(host.you, '!budget role @everyone off');
    await answer('alice');
    await answer('bob');
    expect(budgetRefusal(await check('alice'))).to.include('your budget for today is used up: 1,000 of 1,000 tokens');
    expect((await check('bob')).allowed).to.equal(true);
    await host.advance(DAY);
    expect((await check('alice')).allowed).to.equal(true);
  });

  it('by month count all its days', async () => {
    await say(host.you, '!budget set member off');
    await say(host.you, '!budget set server 3000 tokens a month');
    expect((await check('alice')).allowed).to.equal(true);
    await answer('alice');
    expect(budgetRefusal(await check('alice'))).to.include(
      "this server's budget for this month is used up: 3,000 of 3,000 tokens",
    );
    expect(await say(host.you, '!budget show')).to.match(
      /The server: 3,000 tokens a month\.\n[\s\S]*Used today: .*1,000 tokens/,
    );
    await host.advance(40 * DAY);
    expect((await check('alice')).allowed).to.equal(true);
  });

  it("stay below the ceiling of the bot's owner", async () => {
    await say(host.you, '!budget set server off');
    expect(await say(host.you, '!budget ceiling server 500 tokens a day')).to.equal(
      'The server: at most 500 tokens a day.',
    );
    expect(await say(host.you, '!budget set server 900 tokens a day')).to.include(
      'The owner of the bot allows at most 500 tokens a day here.',
    );
    expect(await say(host.you, '!budget show')).to.include(
      'The server: no limit; the owner of the bot allows at most 500 tokens a day.\nEach channel: no limit.\n',
    );
    await answer('bob');
    expect((await check('bob')).allowed).to.equal(false);
    await say(host.you, '!budget ceiling server off');
    expect((await check('bob')).allowed).to.equal(true);
    expect(await say(host.you, '!budget set server lots')).to.include('Please write an amount');
  });
});
