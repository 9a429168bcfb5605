import { createMemoryDriver, createTestHost, type TestHost } from '@cinnabar/core/testing';
import { hang, type ScriptedLlm, say, scriptedLlm, startOpenAiStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { createMortalDriver } from '../../campaign/confirm/mortal-driver.js';
import { createGate, createMind } from './harness.js';

const SECOND = 1_000;

const fromBot = (host: TestHost, channel = host.general) =>
  channel.messages.filter(({ author }) => author.id === host.bot.id).map(({ content }) => content);

describe('ai: an answer that takes long', () => {
  it('posts a notice after 20 s, and deletes it when the answer is there', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      await gate.passed;
      await turn.reply('Here it is.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} think hard`);
    await mind.begun(1);
    host.clock.advance(19 * SECOND);
    await host.discord.settled();
    expect(fromBot(host)).to.deep.equal([]);
    host.clock.advance(SECOND);
    await host.discord.settled();
    expect(fromBot(host)).to.deep.equal(['-# I am still working on this. I give up after 120 s.']);
    gate.open();
    await host.settled();
    expect(fromBot(host)).to.deep.equal(['Here it is.']);
  });

  it('posts no notice when a part of it is visible', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      if (turn.text === 'in parts') await turn.reply('First part.');
      await gate.passed;
    });
    await using host = await createTestHost({ plugins: ['admin', 'ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} in parts`);
    await host.discord.expectMessage({ content: 'First part.' });
    await host.discord.settled();
    host.clock.advance(30 * SECOND);
    await host.discord.settled();
    expect(fromBot(host)).to.deep.equal(['First part.']);
    gate.open();
    await host.settled();
  });

  it('posts a notice although the bot sends other messages there meanwhile', async () => {
    const gate = createGate();
    const mind = createMind('chat', () => gate.passed);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} think hard`);
    await mind.begun(1);
    const channel = await host.client.channels.fetch(host.general.id);
    if (channel?.isSendable() !== true) throw new Error('there is no channel');
    await channel.send('Bob has a reminder.');
    await host.discord.settled();
    host.clock.advance(20 * SECOND);
    await host.discord.settled();
    expect(fromBot(host)).to.deep.equal([
      'Bob has a reminder.',
      '-# I am still working on this. I give up after 120 s.',
    ]);
    gate.open();
    await host.settled();
    expect(fromBot(host)).to.deep.equal(['Bob has a reminder.']);
  });

  it('loses its notice at the next start when the process was killed meanwhile', async () => {
    for (const killedAt of ['noted', 'sent'] as const) {
      const disk = createMemoryDriver();
      const driver = createMortalDriver(disk);
      const mind = createMind('chat', () => new Promise(() => undefined));
      await using first = await createTestHost({ plugins: ['ai', mind.plugin], driver });
      first.discord.observe((event) => {
        if (killedAt === 'noted' && event.type === 'messageCreate' && event.message.author.bot) driver.kill();
      });
      first.alice.say(first.general, `${first.bot} think hard`);
      await mind.begun(1);
      first.clock.advance(20 * SECOND);
      await first.discord.expectMessage({ content: /still working/ });
      await first.discord.settled();
      // Blocks all further effects of the process on Discord and the disk.
      driver.kill();
      first.discord.faults.rest.fail(500, { times: Number.POSITIVE_INFINITY });
      let isOver = false;
      const stopped = first.stop().then(() => {
        isOver = true;
      });
      while (!isOver) {
        first.clock.advance(SECOND);
        await new Promise(setImmediate);
      }
      await stopped;
      first.discord.faults.clear();
      const words = () => fromBot(first).filter((content) => content.includes('still working'));
      expect(words(), killedAt).to.have.length(1);
      await using second = await createTestHost({
        plugins: ['ai', createMind('chat').plugin],
        world: first,
        driver: disk,
      });
      await second.settled();
      expect(words(), killedAt).to.deep.equal([]);
    }
  });

  it('posts no notice where an admin has disabled it', async () => {
    const gate = createGate();
    const mind = createMind('chat', () => gate.passed);
    await using host = await createTestHost({ plugins: ['admin', 'ai', mind.plugin] });
    host.you.say(host.general, '!set ai patienceSeconds 0');
    await host.settled();
    const before = fromBot(host).length;
    host.alice.say(host.general, `${host.bot} silently`);
    await mind.begun(1);
    host.clock.advance(30 * SECOND);
    await host.discord.settled();
    expect(fromBot(host)).to.have.length(before);
    gate.open();
    await host.settled();
  });

  it('is given up at the deadline even by a mind that does not listen, and the channel goes on', async () => {
    const gate = createGate();
    const mind = createMind('chat', (turn) => (turn.text === 'hang' ? gate.passed : turn.reply('All well.')));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} hang`);
    await mind.begun(1);
    host.bob.say(host.general, `${host.bot} go on`);
    await host.discord.settled();
    for (let second = 0; second < 130; second += 5) {
      host.clock.advance(5 * SECOND);
      await host.discord.settled();
    }
    expect(mind.turns[0]?.signal.aborted).to.equal(true);
    expect(fromBot(host)).to.deep.equal([
      'I could not answer this within 120 s, so I gave up. Please ask again.',
      'All well.',
    ]);
    gate.open();
    await host.settled();
  });

  it('is not posted later once it was given up', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      await gate.passed;
      await turn.reply('Here it is, late.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} hang`);
    await mind.begun(1);
    for (let second = 0; second < 130; second += 5) {
      host.clock.advance(5 * SECOND);
      await host.discord.settled();
    }
    gate.open();
    await host.settled();
    await host.discord.settled();
    expect(fromBot(host)).to.deep.equal(['I could not answer this within 120 s, so I gave up. Please ask again.']);
  });

  it('tells the mind when it has to be there, as an admin has set it', async () => {
    const mind = createMind('chat');
    await using host = await createTestHost({ plugins: ['admin', 'ai', mind.plugin] });
    host.you.say(host.general, '!set ai deadlineSeconds 45');
    await host.settled();
    const now = host.clock.now();
    host.alice.say(host.general, `${host.bot} hello`);
    await host.settled();
    expect(mind.turns[0]?.deadlineAt).to.equal(now + 45 * SECOND);
  });

  it('holds its channel for two minutes when the model hangs, repetitions included', async () => {
    await using model = await startOpenAiStandIn({ script: () => hang() });
    await using host = await createTestHost({
      plugins: ['ai', 'chat', 'llm'],
      settings: { llm: { provider: 'openai', retries: 3, timeoutMs: 50_000 } },
      env: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-test' },
    });
    host.alice.say(host.general, `${host.bot} hello`);
    await model.hanging();
    // Without the limit it would take 200 s. Work after the limit has separate short limits.
    for (let second = 0; second < 135; second += 1) {
      host.clock.advance(SECOND);
      await host.discord.settled();
    }
    await host.settled();
    expect(fromBot(host)).to.have.length(1);
    expect(fromBot(host)[0]).to.match(
      /^(The language model took longer than [\d.]+ s|I could not answer this within 120 s)/,
    );
  });

  it('leaves other servers room to be answered in', async () => {
    const gate = createGate();
    const mind = createMind('chat', (turn) => (turn.text === 'hang' ? gate.passed : turn.reply('All well.')));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    for (let number = 0; number < 12; number += 1) {
      const member = host.discord.createUser({ name: `member-${number}` });
      host.guild.join(member);
      member.say(host.guild.createChannel({ name: `many-${number}` }), `${host.bot} hang`);
    }
    await mind.begun(6);
    const elsewhere = host.discord.createGuild({ name: 'elsewhere', owner: host.bob });
    elsewhere.invite(host.application);
    const lobby = elsewhere.createChannel({ name: 'lobby' });
    await host.discord.settled();
    host.bob.say(lobby, `${host.bot} hello`);
    await host.discord.expectMessage({ channel: lobby, content: 'All well.' });
    expect(mind.turns).to.have.length(7);
    gate.open();
    await host.settled();
  });
});

describe('ai: a very long answer', () => {
  it('becomes one file with a sentence, for every responder', async () => {
    const long = 'A very long answer. '.repeat(1_000);
    const mind = createMind('chat', (turn) => turn.reply(long));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} tell me everything`);
    await host.settled();
    const [answer, ...others] = host.general.messages.filter(({ author }) => author.id === host.bot.id);
    expect(others).to.deep.equal([]);
    expect(answer?.content).to.equal('This is too long for messages (20,000 characters): all of it is in the file.');
    expect(Buffer.from(answer?.attachments[0]?.data ?? []).toString()).to.equal(long);
  });

  it('from the chat mind, too, while it grows and when it has grown', async () => {
    for (const streaming of [false, true]) {
      const llm: ScriptedLlm = scriptedLlm([say('Word for word. '.repeat(2_000))]);
      await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
      host.you.say(host.general, '!set ai answerMessages 2');
      host.you.say(host.general, `!set chat streaming ${streaming}`);
      await host.settled();
      const before = host.general.messages.length;
      host.alice.say(host.general, `${host.bot} tell me everything`);
      for (let second = 0; second < 15; second += 1) {
        await host.discord.settled();
        host.clock.advance(SECOND);
      }
      await host.settled();
      const said = host.general.messages.slice(before).filter(({ author }) => author.id === host.bot.id);
      expect(said.map(({ content }) => content)).to.deep.equal([
        'This is too long for messages (29,999 characters): all of it is in the file.',
      ]);
    }
  });

  it('is there before the beginning that was shown goes', async () => {
    const llm: ScriptedLlm = scriptedLlm([say('Word for word. '.repeat(2_000))]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
    host.you.say(host.general, '!set ai answerMessages 2');
    host.you.say(host.general, '!set chat streaming true');
    await host.settled();
    const seen: string[] = [];
    host.discord.observe((event) => {
      if (event.type === 'messageCreate' && event.message.attachments.length > 0) seen.push('file');
      if (event.type === 'messageDelete') seen.push('deletion');
    });
    host.alice.say(host.general, `${host.bot} tell me everything`);
    for (let second = 0; second < 15; second += 1) {
      await host.discord.settled();
      host.clock.advance(SECOND);
    }
    await host.settled();
    expect(seen[0]).to.equal('file');
    expect(seen).to.include('deletion');
  });
});
