import { loadConfig } from '@cinnabar/core';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { hang, hangMidway, type ScriptedLlm, say, scriptedLlm } from '@cinnabar/local-models';
import { answerMessages, asNotice, asUnfinishedPart } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../../support/folder.js';

const LONG = Array.from({ length: 4 }, (_, index) => `${index} ${'word '.repeat(200)}end.`).join('\n\n');

describe('chat: bots among bots', () => {
  let host: TestHost;
  let llm: ScriptedLlm;
  let second: TestHost;
  let secondLlm: ScriptedLlm;
  before(async () => {
    llm = scriptedLlm(() => say('Fine.'));
    host = await createTestHost({ plugins: ['accounts', 'admin', 'ai', 'chat', llm] });
    const application = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(application);
    const { discord, guild, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    secondLlm = scriptedLlm(() => say('I see.'));
    using config = makeFolder({ 'bots/other.yaml': "host: { prefixes: ['?', '!'] }\n" });
    second = await createTestHost({
      world,
      plugins: ['accounts', 'admin', 'ai', 'chat', secondLlm],
      prefixes: loadConfig(config.path, { CINNABAR_CONFIG: config.path }, 'other'),
    });
  });
  after(async () => {
    await second[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    // A message of a person begins a new chain, and the pause ends an earlier answer of the bot.
    for (let round = 0; round < 10; round += 1) await pass(6_000, host.discord.settled);
    host.bob.say(host.general, 'Well then.');
    await bothSettled();
  });

  const bothSettled = async () => {
    await host.settled();
    await second.settled();
    await host.settled();
  };
  const pass = async (ms: number, settled: () => Promise<void> = bothSettled) => {
    await settled();
    host.clock.advance(ms);
    // Work that a timer starts first reads the configuration.
    for (let round = 0; round < 50; round += 1) await new Promise((resolve) => setImmediate(resolve));
    await settled();
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

  it('the messages of one bot stay together and in order while the answer to another is under way', async () => {
    const [one, other] = ['One', 'Two'].map((name) => host.discord.createApplication({ name, owner: host.you }));
    for (const application of [one, other]) if (application !== undefined) host.guild.invite(application);
    await bothSettled();
    const heard = sinceOf(secondLlm);
    secondLlm.push(hang(say('I see.')));
    one?.user.say(host.general, `${second.bot} a question`);
    // Its first words are what ends the question, whose answer takes its time.
    for (const text of [`${second.bot} first part`, 'second part']) other?.user.say(host.general, text);
    await secondLlm.hanging();
    for (let round = 0; round < 4; round += 1) await pass(1_000, host.discord.settled);
    secondLlm.release();
    await bothSettled();
    await pass(3_000);
    expect(heard()).to.have.length(2);
    const said = JSON.stringify(heard()[1]?.messages);
    expect(said.indexOf('first part')).to.be.within(0, said.indexOf('second part'));
    const answers = host.general.messages.filter(({ content }) => content === 'I see.').slice(-2);
    expect(answers.map(({ replyTo }) => replyTo?.content)).to.deep.equal([`${second.bot} a question`, 'second part']);
  });

  it('an answer in five messages counts once against botChainLength', async () => {
    const heard = sinceOf(secondLlm);
    const stranger = host.discord.createApplication({ name: 'Stranger', owner: host.you });
    host.guild.invite(stranger);
    for (const { content } of answerMessages(`${LONG}\n\n${LONG}`)) stranger.user.say(host.general, content);
    stranger.user.say(host.general, `${second.bot} what do you think?`);
    await pass(2_000);
    // More messages than botChainLength allows, but only two answers.
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

  describe('with streaming on', () => {
    before(async () => {
      for (const one of [host, second]) {
        host.you.say(host.general, `${one.bot} set chat streaming true`);
        host.you.say(host.general, `${one.bot} set chat botChainLength 1`);
      }
      await bothSettled();
    });
    after(async () => {
      for (let round = 0; round < 10; round += 1) await pass(6_000, host.discord.settled);
      for (const one of [host, second]) host.you.say(host.general, `${one.bot} unset chat streaming`);
      await bothSettled();
    });
    const growing = async (answer: string) => {
      llm.push(hangMidway(say(answer)));
      host.alice.say(host.general, `${host.bot} Ask Other`);
      await llm.hanging();
      // A message or an edit each second, while the model pauses.
      await flow(10);
    };
    /** The host does not settle while an answer waits for its next edit. */
    const flow = async (seconds: number) => {
      for (let round = 0; round < seconds; round += 1) await pass(1_000, host.discord.settled);
    };
    const partsOf = (one: TestHost) => {
      const asked = host.general.messages.findLastIndex(({ content }) => content.endsWith('Ask Other'));
      return host.general.messages.slice(asked + 1).filter(({ author }) => author === one.bot);
    };

    it('an answer that grows is one message to the other bot: it waits until it is whole, reads all of it, answers once', async () => {
      const heard = sinceOf(secondLlm);
      await growing(`@Other, read this.\n\n${LONG}`);
      expect(partsOf(host).length).to.be.greaterThan(1);
      expect(heard(), 'while it grows').to.have.length(0);
      llm.release();
      await flow(8);
      const parts = partsOf(host);
      expect(parts.length).to.be.greaterThan(2);
      expect(parts[0]?.content.startsWith(`<@${second.bot.id}>, read this.`)).to.equal(true);
      expect(heard()).to.have.length(1);
      const read = JSON.stringify(heard()[0]?.messages);
      expect(read).to.include('0 word').and.include('3 word');
      await flow(4);
      expect(heard()).to.have.length(1);
      expect(partsOf(second).map(({ content }) => content)).to.deep.equal(['I see.']);
    });

    it('it counts once against botChainLength, whatever it is edited into, and a mention in its last words arrives', async () => {
      const heard = sinceOf(secondLlm);
      for (const times of [1, 2]) {
        await growing(`${LONG}\n\nSo, @Other?`);
        llm.release();
        await flow(8);
        expect(partsOf(host).at(-1)?.content).to.match(new RegExp(`So, <@${second.bot.id}>\\?$`));
        expect(heard()).to.have.length(times);
      }
    });

    it('an answer whose last part is taken back is whole with the part before it, at once', async () => {
      const heard = sinceOf(secondLlm);
      const [first, next] = [
        host.bot.say(host.general, asUnfinishedPart(`<@${second.bot.id}> what I wanted to say`)),
        host.bot.say(host.general, asUnfinishedPart('and what I did not')),
      ];
      await flow(1);
      host.bot.edit(first, `<@${second.bot.id}> what I wanted to say.`);
      await flow(1);
      expect(heard()).to.have.length(0);
      host.bot.delete(next);
      await flow(1);
      expect(heard()).to.have.length(1);
    });
  });

  describe('commands', () => {
    const saidBy = (one: TestHost, text: string, replyTo?: LocalMessage) => {
      const before = new Set(host.general.messages);
      return bothHear(() => host.alice.say(host.general, text, replyTo === undefined ? {} : { replyTo })).then(() =>
        host.general.messages
          .filter((message) => !before.has(message) && message.author === one.bot)
          .map(({ content }) => content),
      );
    };
    const bothHear = async (act: () => unknown) => {
      act();
      await bothSettled();
    };
    const answerOf = async (one: TestHost) => {
      host.alice.say(host.general, `${one.bot} Hello`);
      await bothSettled();
      const answer = host.general.messages.findLast(({ author }) => author === one.bot);
      if (answer === undefined) throw new Error('nothing was said');
      return answer;
    };

    it('with a prefix of a bot’s own file are answered by that bot, whichever spoke last; a shared prefix reaches both', async () => {
      await answerOf(host);
      expect(await saidBy(host, '?help')).to.deep.equal([]);
      expect(await saidBy(second, '?help')).to.have.length(1);
      expect(await saidBy(second, '?m')).to.deep.equal(['I see.']);
      await answerOf(second);
      expect(await saidBy(host, `${host.bot} m`)).to.deep.equal(['Fine.']);
      expect(await saidBy(second, '!help')).to.have.length(1);
      expect(await saidBy(host, '!help')).to.have.length(1);
    });

    it('in reply to a bot’s message are for that bot, unless they mention another', async () => {
      const [first, other] = [await answerOf(host), await answerOf(second)];
      expect(await saidBy(second, '!help', first)).to.deep.equal([]);
      expect(await saidBy(host, '!help', first)).to.have.length(1);
      expect(await saidBy(host, '!help', other)).to.deep.equal([]);
      expect(await saidBy(host, `${host.bot} help`, other)).to.match(/Commands|help/i);
      await bothHear(() => host.alice.say(host.general, '!m delete', { replyTo: first }));
      expect([first.deleted, other.deleted]).to.deep.equal([true, false]);
    });

    it('without either, `m` is obeyed by the bot that spoke last alone', async () => {
      const [first, other] = [await answerOf(host), await answerOf(second)];
      await bothHear(() => host.alice.say(host.general, '!m delete'));
      expect([first.deleted, other.deleted]).to.deep.equal([false, true]);
      expect(await saidBy(second, '!m')).to.deep.equal([]);
    });
  });
});
