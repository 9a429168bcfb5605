import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Accounts, budgetRefusal, type Receipt } from '@cinnabar/sdk';
import { expect } from 'chai';
import { receipt } from './receipt.js';

const HOUR = 3_600_000;
const MOST = { tokens: 1000, usd: 0.01 };

describe('accounts: budgets', () => {
  const till = async () => {
    const host = await createTestHost({ plugins: ['accounts'] });
    const accounts = host.resolve(Accounts);
    const alice = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const bob = { ...alice, userId: host.bob.id };
    let answers = 0;
    const answer = (actor: Receipt['actor'] = alice, more: Partial<Receipt> = {}) => {
      answers += 1;
      return accounts.record(receipt({ id: `${answers}`, actor, at: host.clock.now(), ...more }));
    };
    return { host, accounts, alice, bob, answer };
  };
  /** Advances to midnight. */
  const toMidnight = (host: TestHost) => host.advance(24 * HOUR - (host.clock.now() % (24 * HOUR)));

  it('without a limit allow everything', async () => {
    const { host, accounts, alice, answer } = await till();
    await using _ = host;
    await answer();
    expect((await accounts.check(alice, {})).allowed).to.equal(true);
    expect((await accounts.reserve(alice, MOST, {})).decision.allowed).to.equal(true);
  });

  it('in tokens refuse once they are used up, and say until when', async () => {
    const { host, accounts, alice, answer } = await till();
    await using _ = host;
    await toMidnight(host);
    await host.advance(21 * HOUR);
    const config = { guild: { tokensPerDay: 2000 } };
    await answer();
    expect((await accounts.check(alice, config)).allowed).to.equal(true);
    await answer();
    const decision = await accounts.check(alice, config);
    expect(decision.allowed).to.equal(false);
    expect(budgetRefusal(decision)).to.equal(
      "I cannot answer at the moment: this server's budget for today is used up: 2,000 of 2,000 tokens; it starts anew at midnight UTC, in 3 h 0 min.",
    );
    await host.advance(3 * HOUR);
    expect((await accounts.check(alice, config)).allowed).to.equal(true);
  });

  it('of a channel hold in its threads, too: work in either uses up the same', async () => {
    const { host, accounts, alice, answer } = await till();
    await using _ = host;
    const thread = host.alice.startThread(host.general, 'A long story');
    await host.settled();
    const inThread = { ...alice, channelId: thread.id };
    const config = { channel: { tokensPerDay: 2000 } };
    await answer(inThread);
    expect((await accounts.check(inThread, config)).allowed).to.equal(true);
    await answer(alice);
    expect((await accounts.check(alice, config)).allowed).to.equal(false);
    expect((await accounts.check(inThread, config)).allowed).to.equal(false);
  });

  it('in dollars refuse as well', async () => {
    const { host, accounts, alice, answer } = await till();
    await using _ = host;
    const config = { channel: { usdPerDay: 0.02 } };
    await answer();
    expect((await accounts.check(alice, config)).allowed).to.equal(true);
    await answer();
    expect((await accounts.check(alice, config)).reasons[0]?.text).to.contain('$0.025 of $0.020');
  });

  it('in dollars refuse a model whose price is not known', async () => {
    const { host, accounts, alice } = await till();
    await using _ = host;
    const config = { member: { usdPerDay: 1 } };
    const { decision } = await accounts.reserve(alice, { tokens: 10, usd: null }, config);
    expect(decision.allowed).to.equal(false);
    expect(budgetRefusal(decision)).to.contain('the price of the model is not known');
  });

  it('of a member leave others alone; of nothing allow nothing', async () => {
    const { host, accounts, alice, bob, answer } = await till();
    await using _ = host;
    const config = { member: { tokensPerDay: 500 } };
    await answer(alice);
    expect((await accounts.check(alice, config)).allowed).to.equal(false);
    expect((await accounts.check(bob, config)).allowed).to.equal(true);
    expect((await accounts.check(bob, { member: { tokensPerDay: 0 } })).allowed).to.equal(false);
  });

  it('of channel and member both hold in a direct message, whose channel is the member’s', async () => {
    const { host, accounts, answer } = await till();
    await using _ = host;
    const dm = { userId: host.alice.id, guildId: null, channelId: '77' };
    await answer(dm);
    expect((await accounts.check(dm, { member: { tokensPerDay: 500 } })).allowed).to.equal(false);
    expect((await accounts.check(dm, { guild: { tokensPerDay: 1 } })).allowed).to.equal(true);
  });

  it('of channel and member in a direct message do not refuse a request for which they hold a reservation', async () => {
    const { host, accounts } = await till();
    await using _ = host;
    const dm = { userId: host.alice.id, guildId: null, channelId: '77' };
    const config = { channel: { tokensPerDay: 5000 }, member: { tokensPerDay: 500 } };
    const first = await accounts.reserve(dm, MOST, config);
    expect(first.decision.allowed).to.equal(true);
    expect((await accounts.reserve(dm, MOST, config)).decision.allowed).to.equal(false);
    await first.release();
    expect((await accounts.reserve(dm, MOST, config)).decision.allowed).to.equal(true);
  });

  it('hold for replies that are written at the same time: at most one exceeds them', async () => {
    const { host, accounts, alice } = await till();
    await using _ = host;
    const config = { guild: { tokensPerDay: 2500 } };
    const all = await Promise.all(Array.from({ length: 8 }, () => accounts.reserve(alice, MOST, config)));
    expect(all.filter(({ decision }) => decision.allowed)).to.have.lengthOf(3);
    const refused = all.find(({ decision }) => !decision.allowed)?.decision;
    expect(refused?.reasons.at(-1)?.text).to.contain('3,000 of 2,500 tokens, with 3 being written');
  });

  it('release the reservation when a reply has ended, whether it was recorded or failed', async () => {
    const { host, accounts, alice, answer } = await till();
    await using _ = host;
    const config = { guild: { tokensPerDay: 1500 }, member: { tokensPerDay: 1000 } };
    const first = await accounts.reserve(alice, MOST, config);
    expect((await accounts.reserve(alice, MOST, config)).decision.allowed).to.equal(false);
    await first.release();
    await first.release();
    const second = await accounts.reserve(alice, MOST, config);
    expect(second.decision.allowed).to.equal(true);
    await answer(alice, { usage: { ...receipt({ actor: alice, at: 0 }).usage, inputTokens: 0 } });
    await second.release();
    expect((await accounts.check(alice, config)).allowed).to.equal(true);
  });

  it('that refuse hold nothing back in the others', async () => {
    const { host, accounts, alice, bob } = await till();
    await using _ = host;
    const refusing = { guild: { tokensPerDay: 1000 }, member: { tokensPerDay: 0 } };
    await accounts.reserve(alice, MOST, refusing);
    const { decision } = await accounts.reserve(bob, MOST, { guild: { tokensPerDay: 1000 } });
    expect(decision.allowed).to.equal(true);
  });

  it('do not wait for ever for a reply that vanished in a crash', async () => {
    const { host, accounts, alice } = await till();
    await using _ = host;
    const config = { guild: { tokensPerDay: 1000 } };
    await accounts.reserve(alice, MOST, config);
    expect((await accounts.check(alice, config)).allowed).to.equal(false);
    await host.advance(16 * 60_000);
    expect((await accounts.check(alice, config)).allowed).to.equal(true);
  });
});
