import { createTestHost } from '@cinnabar/core/testing';
import { UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openFence } from '../../sdk/text/markdown.js';
import { createGate, createMind } from './harness.js';

describe('ai: answers', () => {
  it('reply to the message and can ping only its author', async () => {
    const mind = createMind('chat', (turn) => turn.reply(`@everyone ${turn.user} and <@${bobId()}>`));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const bobId = () => host.bob.id;
    const asked = host.alice.say(host.general, `${host.bot} hello`);
    await host.settled();
    const answer = await host.discord.expectMessage({ author: host.bot });
    expect(answer.replyTo).to.equal(asked);
    expect(answer.mentions.everyone).to.equal(false);
    expect(answer.mentions.users).to.deep.equal([host.alice]);
  });

  it('are split at Discord’s limit without breaking a code fence', async () => {
    const code = Array.from({ length: 150 }, (_, line) => `const line${line} = 'a line of code that is rather long';`);
    const mind = createMind('chat', (turn) => turn.reply(`Here:\n\`\`\`js\n${code.join('\n')}\n\`\`\`\nDone.`));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} code please`);
    await host.settled();
    const parts = host.general.messages.slice(1).map(({ content }) => content);
    expect(parts.length).to.be.greaterThan(4);
    expect(parts.filter((part) => part.length > 2000 || openFence(part) !== undefined)).to.deep.equal([]);
  });

  it('are sent although the question has been deleted', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      await gate.passed;
      await turn.reply('Here I am.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const asked = host.alice.say(host.general, `${host.bot} hello`);
    await mind.begun(1);
    host.alice.delete(asked);
    gate.open();
    await host.discord.expectMessage({ author: host.bot, content: 'Here I am.' });
  });

  it('say what went wrong, and go on with the next', async () => {
    const errors = [new UserError('The stars are not right.'), new Error('secret detail')];
    const mind = createMind('chat', async (turn) => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      await turn.reply('All well.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    for (const text of ['one', 'two', 'three']) host.alice.say(host.general, `!ai ${text}`);
    await host.settled();
    const said = host.general.messages.filter(({ author }) => author.bot).map(({ content }) => content);
    expect(said[0]).to.equal('The stars are not right.');
    expect(said[1])
      .to.match(/^Something went wrong/)
      .and.not.match(/secret/);
    expect(said[2]).to.equal('All well.');
  });

  it('follow the order of the channel, and channels do not wait for each other', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      if (turn.text === 'first') await gate.passed;
      await turn.reply(`answer to ${turn.text}`);
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const other = host.guild.createChannel({ name: 'other' });
    host.alice.say(host.general, `${host.bot} first`);
    await mind.begun(1);
    host.bob.say(host.general, '!ai second');
    host.bob.say(other, `${host.bot} elsewhere`);
    await host.discord.expectMessage({ channel: other, content: 'answer to elsewhere' });
    expect(mind.turns.map(({ text }) => text)).to.deep.equal(['first', 'elsewhere']);
    gate.open();
    await host.settled();
    const answers = host.general.messages.filter(({ author }) => author.bot).map(({ content }) => content);
    expect(answers).to.deep.equal(['answer to first', 'answer to second']);
  });

  it('are declined plainly for those who still wait when the plugin is stopped', async () => {
    const gate = createGate();
    const mind = createMind('chat', () => gate.passed);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} first`);
    await mind.begun(1);
    host.bob.say(host.general, `${host.bot} second`);
    await host.discord.settled();
    const stopping = host.plugins.unload('ai');
    await host.discord.settled();
    host.clock.advance(10_000);
    gate.open();
    await stopping;
    await host.discord.expectMessage({
      author: host.bot,
      content: 'I was stopped before I had finished this. Please ask again.',
    });
    expect(mind.turns.map(({ text }) => text)).to.deep.equal(['first']);
  });

  it('are not sent any more by a plugin that has stopped', async () => {
    const mind = createMind('chat');
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const posted = () => host.discord.requests.of('POST', '/channels/:channelId/messages').length;
    const givenUp = async (before: number) => {
      // discord.js itself tries again three times.
      while (posted() < before + 4) await host.discord.settled();
    };
    host.discord.faults.rest.fail(503, { method: 'POST', route: '/channels/:channelId/messages', times: 100 });
    host.alice.say(host.general, `${host.bot} hello`);
    await givenUp(0);
    for (const [index, pauseMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await host.discord.settled();
      host.clock.advance(pauseMs);
      await givenUp(4 * (index + 1));
    }
    await host.discord.settled();
    const stopping = host.plugins.unload('ai');
    await host.discord.settled();
    host.discord.faults.rest.clear();
    host.clock.advance(10_000);
    await stopping;
    host.clock.advance(60_000);
    await host.discord.settled();
    const said = host.general.messages.map(({ content }) => content);
    expect(said).to.not.include('chat heard: hello');
  });

  it('decline plainly when too many wait', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      await gate.passed;
      await turn.reply(`answer to ${turn.text}`);
    });
    await using host = await createTestHost({ plugins: ['admin', 'ai', mind.plugin] });
    host.you.say(host.general, '!set ai maxWaiting 1');
    await host.settled();
    for (const text of ['one', 'two', 'three']) host.alice.say(host.general, `${host.bot} ${text}`);
    await host.discord.expectMessage({ author: host.bot, content: /^1 message is waiting and I am still busy/ });
    gate.open();
    await host.settled();
    expect(mind.turns.map(({ text }) => text)).to.deep.equal(['one', 'two']);
  });

  it('show typing while they are made, and no longer', async () => {
    const gate = createGate();
    const mind = createMind('chat', async (turn) => {
      await gate.passed;
      await turn.reply('Done.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const typed = () => host.discord.requests.of('POST', '/channels/:channelId/typing').length;
    host.alice.say(host.general, `${host.bot} hello`);
    await mind.begun(1);
    await host.discord.settled();
    expect(typed()).to.equal(1);
    host.clock.advance(8_000);
    await host.discord.settled();
    expect(typed()).to.equal(2);
    gate.open();
    await host.settled();
    await host.advance(30_000);
    expect(typed()).to.equal(2);
  });

  it('are limited for each member, who gets one notice', async () => {
    const mind = createMind('chat');
    await using host = await createTestHost({ plugins: ['admin', 'ai', mind.plugin] });
    host.you.say(host.general, '!set ai turnsPerMinute 2');
    await host.settled();
    for (const text of ['one', 'two', 'three', 'four']) host.alice.say(host.general, `!ai ${text}`);
    host.bob.say(host.general, '!ai bob');
    await host.settled();
    // The order of each member's messages is fixed; the order between two members is not.
    const texts = mind.turns.map(({ text }) => text);
    expect(texts.filter((text) => text !== 'bob')).to.deep.equal(['one', 'two']);
    expect(texts).to.include('bob').and.to.have.length(3);
    const told = host.general.messages.filter(({ content }) => content.startsWith('That was a lot at once.'));
    expect(told.map(({ content }) => content)).to.deep.equal(['That was a lot at once. Please wait 60 s.']);
    await host.advance(60_000);
    host.alice.say(host.general, '!ai five');
    await host.settled();
    expect(mind.turns.at(-1)?.text).to.equal('five');
  });
});
