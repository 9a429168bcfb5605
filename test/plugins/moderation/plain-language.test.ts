import { expect } from 'chai';
import { type Harness, openHarness } from './harness.js';

describe('moderation in plain language', () => {
  let harness: Harness;
  before(async () => {
    harness = await openHarness({ plugins: ['ai', 'chat', 'llm', 'confirm'] });
  });
  after(() => harness[Symbol.asyncDispose]());

  it('waits for a 👍, and is refused to who may not do it themselves', async () => {
    const { say, host, mod } = harness;
    const { guild, alice, bob, general } = host;
    await say(bob, '!ai kick @alice');
    expect(guild.members.has(alice.id)).to.equal(true);
    expect(general.messages.some(({ content }) => content.includes('👍 Confirm'))).to.equal(false);
    const card = await say(mod, '!ai time out @alice for 10 minutes');
    expect(card).to.include('in time-out for 10 minutes');
    expect(guild.memberOf(alice).timedOutUntil).to.equal(null);
    const posted = general.messages.filter(({ author }) => author.bot).at(-1);
    if (posted !== undefined) mod.react(posted, '👍');
    await host.settled();
    expect(guild.memberOf(alice).timedOutUntil).to.equal(host.clock.now() + 600_000);
    expect(general.messages.at(-1)?.content).to.include('is in time-out for 10m').and.include('(case 1)');
    // An action that would be refused after the question is refused before it.
    expect(await say(mod, '!ai kick @you')).to.include('owns this server');
  });
});
