import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { Accounts } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { receipt } from './receipt.js';

const MOST = { tokens: 100, usd: 0.01 };

describe('accounts: budgets in the configuration files', () => {
  const open = async (files: Readonly<Record<string, string>>) => {
    const folder = makeFolder(files);
    const host = await createTestHost({ plugins: ['accounts'], configDir: folder.path });
    const accounts = host.resolve(Accounts);
    const alice = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const spend = (tokens: number) => {
      const usage = { ...receipt({ actor: alice, at: 0 }).usage, inputTokens: tokens - 900, outputTokens: 50 };
      return accounts.record(receipt({ id: `${tokens}`, actor: alice, at: host.clock.now(), usage }));
    };
    const close = async () => {
      await host[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    };
    return { host, folder, accounts, alice, spend, [Symbol.asyncDispose]: close };
  };

  it('hold for every responder, whatever its own limits', async () => {
    await using till = await open({ 'shared.yaml': 'budgets:\n  guild: {tokensPerDay: 1000}\n' });
    await till.spend(1000);
    expect((await till.accounts.check(till.alice)).allowed).to.equal(false);
    const generous = { guild: { tokensPerDay: 5000 } };
    expect((await till.accounts.reserve(till.alice, MOST, generous)).decision.allowed).to.equal(false);
  });

  it('hold beside a mind’s own, the stricter of both', async () => {
    await using till = await open({ 'shared.yaml': 'budgets:\n  guild: {tokensPerDay: 5000}\n' });
    await till.spend(1000);
    expect((await till.accounts.check(till.alice)).allowed).to.equal(true);
    expect((await till.accounts.check(till.alice, { guild: { tokensPerDay: 1000 } })).allowed).to.equal(false);
    expect((await till.accounts.check(till.alice, { member: { usdPerDay: 0 } })).allowed).to.equal(false);
  });

  it('are laid over one another limit by limit, and follow the files without a restart', async () => {
    await using till = await open({
      'shared.yaml': 'budgets:\n  guild: {tokensPerDay: 1000}\n  member: {tokensPerDay: 900}\n',
    });
    till.folder.write(`guilds/${till.host.guild.id}.yaml`, 'budgets:\n  member: {tokensPerDay: null}\n');
    await till.spend(950);
    expect((await till.accounts.check(till.alice)).allowed).to.equal(true);
    till.folder.write(`guilds/${till.host.guild.id}.yaml`, 'budgets:\n  guild: {tokensPerDay: 940}\n');
    const { reasons } = await till.accounts.check(till.alice);
    expect(reasons.map(({ rule, allowed }) => `${rule} ${allowed}`)).to.deep.equal([
      'budget-guild false',
      'budget-member false',
    ]);
  });

  it('with empty keys at any depth do not stop the start', async () => {
    await using till = await open({ 'shared.yaml': 'budgets:\n  guild:\n  member: {tokensPerDay: , usdPerDay: 5}\n' });
    expect((await till.accounts.check(till.alice)).allowed).to.equal(true);
  });

  it('that cannot be read mean that nothing may be spent, until they are put right', async () => {
    await using till = await open({});
    const refusing = async (yaml: string) => {
      till.folder.write('shared.yaml', `budgets:${yaml}\n`);
      const { reasons } = await till.accounts.check(till.alice);
      return reasons.filter(({ allowed }) => !allowed).map(({ rule }) => rule);
    };
    expect(await refusing(' {guild: {usdPerDay: five, tokensPerDay: 10}}')).to.deep.equal(['budget-guild']);
    expect(await refusing(' {guild: {usdPerday: 5, usdPerDay: 5}}')).to.deep.equal(['budget-guild']);
    expect(await refusing(' {member: 5}')).to.deep.equal(['budget-member']);
    expect(await refusing(' {guilds: {usdPerDay: 5}}')).to.have.length(3);
    expect(await refusing(' 5')).to.have.length(3);
    expect(await refusing(' {guild: {usdPerDay: 5}}')).to.deep.equal([]);
    expect(await refusing('')).to.deep.equal([]);
  });

  it('that cannot be read are logged with file, line and key, and leave the others as they are', async () => {
    await using till = await open({});
    till.folder.write(
      'shared.yaml',
      'budgets:\n  guild: {tokensPerDay: 10}\n  member: {usdPerday: 5, usdPerDay: five}\n',
    );
    const rules = async () =>
      (await till.accounts.check(till.alice)).reasons.map(({ rule, allowed }) => `${rule} ${allowed}`);
    expect(await rules()).to.deep.equal(['budget-guild true', 'budget-member false']);
    await till.spend(1000);
    expect(await rules()).to.deep.equal(['budget-guild false', 'budget-member false']);
    const problems = till.host.log.flatMap(({ message }) => (message.includes('budgets.') ? [message] : []));
    expect(problems).to.have.length(2);
    expect(problems[0]).to.match(/shared\.yaml:3: budgets\.member\.usdPerDay: .* nothing may be spent\.$/);
    expect(problems[1]).to.match(/shared\.yaml:3: budgets\.member\.usdPerday: there is no such key; /);
  });

  it('are right in the annotated examples', async () => {
    await using till = await open({ 'shared.yaml': readFileSync(join('config', 'guilds', 'example.yaml'), 'utf8') });
    expect(
      (await till.accounts.check(till.alice)).reasons.map(({ rule, allowed }) => `${rule} ${allowed}`),
    ).to.deep.equal(['budget-guild true', 'budget-member true']);
  });
});
