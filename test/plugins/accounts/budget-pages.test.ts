import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Accounts, AuditLog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { answering } from '../admin/harness.js';
import { openBrowser } from '../web/browser.js';
import { receipt } from './receipt.js';

describe('accounts: budgets in the dashboard', () => {
  let host: TestHost;
  let say: ReturnType<typeof answering>;
  const config = makeFolder({ 'shared.yaml': 'budgets:\n  channel: { tokensPerDay: 4000 }\n' });
  before(async () => {
    host = await createTestHost({
      plugins: ['accounts', 'admin', 'web'],
      env: { CINNABAR_WEB: '0' },
      configDir: config.path,
      printErrors: false,
    });
    say = answering(host);
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    config[Symbol.dispose]();
  });

  const signedIn = async (userId: string) => {
    const browser = openBrowser(host);
    await browser.signIn(userId);
    return {
      see: () => browser.get(`/api/pages/accounts/budgets?guild=${host.guild.id}`),
      everywhere: () => browser.get('/api/pages/accounts/bot-budgets'),
      act: async (name: string, input: object) => {
        const { status, body } = await browser.act(
          `/api/pages/accounts/budgets/acts/${name}?guild=${host.guild.id}`,
          input,
        );
        return { status, text: JSON.stringify(body) };
      },
    };
  };

  it('are set, shown and lifted as the commands do it, one limit at a time', async () => {
    const owner = await signedIn(host.you.id);
    const supporters = host.guild.createRole({ name: 'Supporters' });
    expect((await owner.act('set', { whose: 'server', amount: 5, unit: 'usdPerDay' })).text).to.include(
      'The server: $5.00 a day.',
    );
    await owner.act('set', { whose: 'server', amount: 3000.4, unit: 'tokensPerMonth' });
    await owner.act('role', { role: supporters.id, amount: 2_000_000, unit: 'tokensPerMonth' });
    expect(await say(host.you, '!budget show')).to.match(
      /^The server: \$5\.00 a day, 3,000 tokens a month\.[\s\S]*Members of <@&\d+>: 2,000,000 tokens a month/,
    );
    expect(JSON.stringify((await owner.see()).body))
      .to.include('3,000 tokens a month')
      .and.include(supporters.id);
    expect((await owner.act('lift', { whose: 'server', unit: 'usdPerDay' })).text).to.include(
      'The server: 3,000 tokens a month.',
    );
    expect((await owner.act('lift-role', { role: supporters.id, unit: 'tokensPerMonth' })).text).to.include(
      'no limit of their own any more',
    );
    expect(await say(host.you, '!budget show')).to.match(/^The server: 3,000 tokens a month\.(?![\s\S]*Members of)/);
    expect(await say(host.you, '!budget set server off tokens a month'), 'the command lifts one, too').to.equal(
      'The server: no limit.',
    );
    const acts = (await host.resolve(AuditLog).recent(host.guild.id, 20)).map(
      ({ act, outcome }) => `${act}: ${outcome}`,
    );
    expect(acts).to.include.members([
      'budget set server 5 usd a day: done',
      `budget role <@&${supporters.id}> 2000000 tokens a month: done`,
      'budget set server off usd a day: done',
      'budget set server off tokens a month: done',
    ]);
  });

  it('say what is wrong: no role, no unit, more than the ceiling or the files allow', async () => {
    const owner = await signedIn(host.you.id);
    expect((await owner.act('role', { amount: 1, unit: 'usdPerDay' })).text).to.include('Choose a role');
    expect((await owner.act('role', { role: '1'.repeat(18), amount: 1, unit: 'usdPerDay' })).text).to.include(
      'Choose a',
    );
    expect((await owner.act('set', { whose: 'member', amount: 5 })).text).to.include('Please write an amount');
    expect((await owner.act('set', { whose: 'member', amount: -5, unit: 'usdPerDay' })).status).to.equal(422);
    expect((await owner.act('set', { whose: 'member', unit: 'usdPerDay' })).status).to.equal(422);
    expect((await owner.act('set', { whose: 'channel', amount: 9000, unit: 'tokensPerDay' })).text).to.include(
      'The owner of the bot allows at most 4,000 tokens a day here.',
    );
    await owner.act('ceiling', { whose: 'member', amount: 2, unit: 'usdPerDay' });
    expect((await owner.act('set', { whose: 'member', amount: 3, unit: 'usdPerDay' })).text).to.include(
      'at most $2.00 a day here',
    );
    await owner.act('lift-ceiling', { whose: 'member', unit: 'usdPerDay' });
    expect((await owner.act('set', { whose: 'member', amount: 3, unit: 'usdPerDay' })).status).to.equal(200);
    await owner.act('lift', { whose: 'member' });
  });

  it('are read by moderators, set by admins, and have ceilings by the owner of the bot alone', async () => {
    const { alice, bob, guild } = host;
    guild.giveRole(alice, guild.createRole({ name: 'Mods', permissions: ['KickMembers', 'ModerateMembers'] }));
    guild.giveRole(bob, guild.createRole({ name: 'Chiefs', permissions: ['ManageGuild'] }));
    await host.settled();
    const [moderator, admin] = [await signedIn(alice.id), await signedIn(bob.id)];
    const seen = JSON.stringify((await moderator.see()).body);
    expect(seen).to.include('The server').and.not.to.include('"form"');
    expect((await moderator.act('set', { whose: 'server', amount: 1, unit: 'usdPerDay' })).status).to.equal(403);
    expect(JSON.stringify((await admin.see()).body))
      .to.include('"form"')
      .and.not.to.include('"ceiling"');
    expect((await admin.act('set', { whose: 'server', amount: 1, unit: 'usdPerDay' })).status).to.equal(200);
    expect((await admin.act('ceiling', { whose: 'server', amount: 9, unit: 'usdPerDay' })).status).to.equal(403);
    expect((await admin.everywhere()).status).to.equal(403);
  });

  it('of all servers show the owner of the bot what the files hold, and each server with what it has used', async () => {
    const owner = await signedIn(host.you.id);
    const actor = { userId: host.bob.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(Accounts).record(receipt({ id: 'one', actor, at: host.clock.now() }));
    const { status, body } = await owner.everywhere();
    expect(status).to.equal(200);
    expect(JSON.stringify(body))
      .to.include('4,000 tokens a day')
      .and.include(`{"page":"accounts/budgets","guildId":"${host.guild.id}"}`)
      .and.include('1000');
  });
});
