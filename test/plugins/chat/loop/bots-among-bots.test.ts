import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { answerMessages, asNotice } from '@cinnabar/sdk';
import { type ScriptedLlm, say, scriptedLlm } from '@cinnabar/sdk/testing';
import { expect } from 'chai';

const LONG = Array.from({ length: 4 }, (_, index) => `${index} ${'word '.repeat(200)}end.`).join('\n\n');

describe('chat: bots among bots', () => {
  let host: TestHost;
  let llm: ScriptedLlm;
  let second: TestHost;
  let secondLlm: ScriptedLlm;
  before(async () => {
    llm = scriptedLlm(() => say('Fine.'));
    host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
    const application = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(application);
    const { discord, guild, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    secondLlm = scriptedLlm(() => say('I see.'));
    second = await createTestHost({ world, plugins: ['ai', 'chat', secondLlm] });
  });
  after(async () => {
    await second[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    // A person's word begins a new chain, and the pause ends what a bot said before.
    await host.advance(60_000);
    host.bob.say(host.general, 'Well then.');
    await bothSettled();
  });

  const bothSettled = async () => {
    await host.settled();
    await second.settled();
    await host.settled();
  };
  const pass = async (ms: number) => {
    await bothSettled();
    host.clock.advance(ms);
    // What a timer begins reads the configuration first.
    for (let round = 0; round < 50; round += 1) await new Promise((resolve) => setImmediate(resolve));
    await bothSettled();
  };
  const sinceOf = (one: ScriptedLlm) => {
    const before = one.requests.length;
    return () => one.requests.slice(before);
  };

  it('a long answer of one bot in several messages is one message to the other: it waits until it is whole, and answers once', async () => {
    const heard = sinceOf(secondLlm);
    const parts = answerMessages(`<@${second.bot.id}> ${LONG}`);
    expect(parts.length).to.be.greaterThan(2);
    for (const [index, { content }] of parts.entries()) {
      expect(heard(), `before part ${index}`).to.have.length(0);
      host.bot.say(host.general, content);
      await bothSettled();
      if (index < parts.length - 1) await pass(5_000);
    }
    expect(heard()).to.have.length(1);
    const read = JSON.stringify(heard()[0]?.messages);
    expect(read).to.include('0 word').and.include('3 word').and.include('end.');
  });

  it('an answer in five messages counts once against botChainLength', async () => {
    const heard = sinceOf(secondLlm);
    const stranger = host.discord.createApplication({ name: 'Stranger', owner: host.you });
    host.guild.invite(stranger);
    for (const { content } of answerMessages(`${LONG}\n\n${LONG}`)) stranger.user.say(host.general, content);
    stranger.user.say(host.general, `${second.bot} what do you think?`);
    await pass(2_000);
    // More messages than botChainLength allows, but two answers.
    expect(heard()).to.not.have.length(0);
  });

  it('messages that a foreign bot sends one right after the other are one message, after a short quiet time', async () => {
    const heard = sinceOf(secondLlm);
    const foreign = host.discord.createApplication({ name: 'Foreign', owner: host.you });
    host.guild.invite(foreign);
    foreign.user.say(host.general, `${second.bot} first part`);
    await pass(1_500);
    foreign.user.say(host.general, 'second part');
    await pass(1_500);
    expect(heard()).to.have.length(0);
    await pass(500);
    expect(heard()).to.have.length(1);
    expect(JSON.stringify(heard()[0]?.messages)).to.include('first part').and.include('second part');
  });

  it('an answer that broke off is answered as far as it came, one that was taken back or became a notice is not', async () => {
    const heard = sinceOf(secondLlm);
    const [part] = answerMessages(`<@${second.bot.id}> ${LONG}`);
    const deleted = host.bot.say(host.general, part?.content ?? '');
    await bothSettled();
    host.bot.delete(deleted);
    await pass(30_000);
    const failed = host.bot.say(host.general, part?.content ?? '');
    await bothSettled();
    host.bot.edit(failed, asNotice('The model cannot be reached.'));
    await pass(30_000);
    expect(heard()).to.have.length(0);
    host.bot.say(host.general, part?.content ?? '');
    await pass(30_000);
    expect(heard()).to.have.length(1);
  });

  it('a mention of another bot that the model writes arrives, by name or by id; a person, a role or everyone is not pinged by it', async () => {
    const role = host.guild.createRole({ name: 'Crew', mentionable: true });
    const heard = sinceOf(secondLlm);
    llm.push(
      say(`@Other and <@${second.bot.id}>: <@${host.bob.id}>, <@&${role.id}>, @everyone, what about \`@Other\`?`),
    );
    host.alice.say(host.general, `${host.bot} Ask Other`);
    await bothSettled();
    const asked = host.general.messages.findLast(({ author }) => author === host.bot);
    expect(asked?.content).to.match(new RegExp(`^<@${second.bot.id}> and .*\`@Other\`\\?$`));
    await pass(2_000);
    const pinged = asked?.mentions.users.map(({ id }) => id);
    expect(pinged).to.include(second.bot.id).and.not.include(host.bob.id);
    expect([asked?.mentions.everyone, asked?.mentions.roles.length]).to.deep.equal([false, 0]);
    expect(heard()).to.have.length(1);
  });
});
