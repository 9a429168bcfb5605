import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { type Turn, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createGate, createMind } from './harness.js';

const batches = { batches: true } as const;
const told = (host: TestHost) => host.general.messages.filter(({ author }) => author.bot);
const together = ({ earlier, text }: Turn) => [...earlier.map((turn) => turn.text), text];

/** A responder whose first turn runs until the gate opens. */
function busyMind(respond: (turn: Turn) => Promise<unknown>, traits: Parameters<typeof createMind>[2] = batches) {
  const gate = createGate();
  let first = true;
  const mind = createMind(
    'chat',
    async (turn) => {
      if (!first) return respond(turn);
      first = false;
      await gate.passed;
      return turn.reply('Now.');
    },
    traits,
  );
  return { gate, mind };
}

describe('ai: turns that wait', () => {
  it('are handed over together to a mind that takes batches, the newest as the turn', async () => {
    const { gate, mind } = busyMind((turn) => turn.reply(`heard ${together(turn).join(', ')}`));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    host.bob.say(host.general, `${host.bot} two`);
    host.alice.say(host.general, '!ai three');
    const last = host.bob.say(host.general, `${host.bot} four`);
    await host.discord.settled();
    gate.open();
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['two', 'three', 'four']]);
    expect(told(host).map(({ content }) => content)).to.deep.equal(['Now.', 'heard two, three, four']);
    expect(told(host)[1]?.replyTo).to.equal(last);
  });

  it('are handed over one by one to others', async () => {
    const { gate, mind } = busyMind((turn) => turn.reply(`heard ${turn.text}`), {});
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    for (const text of ['two', 'three']) host.alice.say(host.general, `${host.bot} ${text}`);
    await host.discord.settled();
    gate.open();
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['two'], ['three']]);
  });

  it('leave a slash command its own answer', async () => {
    const { gate, mind } = busyMind((turn) => turn.reply(`heard ${together(turn).join(', ')}`));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    host.bob.say(host.general, `${host.bot} two`);
    const slash = host.alice.slash(host.general, 'ai', { text: 'three' });
    await host.discord.settled();
    host.bob.say(host.general, `${host.bot} four`);
    await host.discord.settled();
    gate.open();
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['two'], ['three'], ['four']]);
    expect(slash.messages.map(({ content }) => content)).to.deep.equal(['heard three']);
  });

  it('that fail together are said to each who asked, and do not stop the next', async () => {
    let failed = false;
    const { gate, mind } = busyMind(async (turn) => {
      if (failed) return turn.reply('All well.');
      failed = true;
      throw new UserError('The stars are not right.');
    });
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    host.alice.say(host.general, `${host.bot} two`);
    const alices = host.alice.say(host.general, `${host.bot} three`);
    const bobs = host.bob.say(host.general, `${host.bot} four`);
    await host.discord.settled();
    gate.open();
    await host.settled();
    const sorry = told(host).filter(({ content }) => content === 'The stars are not right.');
    expect(sorry.map(({ replyTo }) => replyTo)).to.have.members([alices, bobs]);
    host.alice.say(host.general, `${host.bot} five`);
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['two', 'three', 'four'], ['five']]);
    await host.discord.expectMessage({ author: host.bot, content: 'All well.' });
  });

  it('are answered as they were edited, and not at all once deleted', async () => {
    const { gate, mind } = busyMind((turn) => turn.reply(`heard ${together(turn).join(', ')}`));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    const deleted = host.alice.say(host.general, `${host.bot} two`);
    const edited = host.alice.say(host.general, `${host.bot} three`);
    host.alice.say(host.general, `${host.bot} four`);
    await host.discord.settled();
    host.alice.delete(deleted);
    host.alice.edit(edited, `${host.bot} thirty`);
    await host.discord.settled();
    gate.open();
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['thirty', 'four']]);
  });

  it('are no more than the mind lets wait', async () => {
    const traits = { batches: true, maxWaiting: async () => 1 };
    const { gate, mind } = busyMind((turn) => turn.reply(`heard ${together(turn).join(', ')}`), traits);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} one`);
    await mind.begun(1);
    for (const text of ['two', 'three']) host.bob.say(host.general, `${host.bot} ${text}`);
    await host.discord.expectMessage({ author: host.bot, content: /^1 message is waiting and I am still busy/ });
    gate.open();
    await host.settled();
    expect(mind.turns.map(together)).to.deep.equal([['one'], ['two']]);
  });

  it('of other channels are answered at the same time, up to a limit', async () => {
    const gate = createGate();
    const mind = createMind('chat', async () => gate.passed, batches);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin], settings: { ai: { maxConcurrent: 2 } } });
    const channels = [host.general, host.guild.createChannel({ name: 'a' }), host.guild.createChannel({ name: 'b' })];
    for (const channel of channels) host.alice.say(channel, `${host.bot} hello`);
    await mind.begun(2);
    await host.discord.settled();
    expect(mind.turns).to.have.length(2);
    gate.open();
    await host.settled();
    expect(mind.turns).to.have.length(3);
  });
});
