import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage } from '@cinnabar/local-discord';
import { FrontDoor } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createMind, type Mind } from './harness.js';

describe('ai: the front door for responders', () => {
  let host: TestHost;
  let mind: Mind;
  beforeEach(async () => {
    mind = createMind('chat');
    host = await createTestHost({ plugins: ['ai', mind.plugin] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const messageOf = async (said: LocalMessage, where: LocalChannel = host.general) => {
    await host.settled();
    const channel = host.client.channels.cache.get(where.id);
    if (channel?.isSendable() !== true) throw new Error('There is no such channel.');
    return channel.messages.fetch(said.id);
  };
  const take = async (said: LocalMessage, responder = 'chat', trigger: 'name' | 'random' = 'name') =>
    host.resolve(FrontDoor).take(await messageOf(said), { trigger, responder });

  it('makes turns of messages', async () => {
    expect(await take(host.alice.say(host.general, 'What does Cinnabar think?'))).to.equal(true);
    expect(mind.turns.map(({ trigger, text }) => [trigger, text])).to.deep.equal([
      ['name', 'What does Cinnabar think?'],
    ]);
    await host.discord.expectMessage({ author: host.bot, content: 'chat heard: What does Cinnabar think?' });
  });

  it('refuses when another responder answers there', async () => {
    expect(await host.resolve(FrontDoor).responderIn(host.guild.id, host.general.id)).to.equal('chat');
    expect(await take(host.alice.say(host.general, 'Hello'), 'persona')).to.equal(false);
    expect(mind.turns).to.deep.equal([]);
  });

  it('refuses when the bot may not write there', async () => {
    const quiet = host.guild.createChannel({ name: 'quiet' });
    host.guild.overwrite(quiet, { for: host.bot, deny: ['SendMessages'] });
    const message = await messageOf(host.alice.say(quiet, 'Hello'), quiet);
    expect(await host.resolve(FrontDoor).take(message, { trigger: 'name', responder: 'chat' })).to.equal(false);
  });

  it('accepts a message once, from any number of callers', async () => {
    const message = await messageOf(host.alice.say(host.general, 'Hello'));
    const door = host.resolve(FrontDoor);
    const options = { trigger: 'name', responder: 'chat' } as const;
    expect(await Promise.all([door.take(message, options), door.take(message, options)])).to.have.members([
      true,
      false,
    ]);
    expect(mind.turns).to.have.length(1);
  });

  it('refuses without a message members who have not addressed it', async () => {
    for (let asked = 0; asked < 30; asked += 1) await take(host.alice.say(host.general, `Hello ${asked}`));
    const before = host.general.messages.length;
    expect(await take(host.alice.say(host.general, 'Once more'), 'chat', 'random')).to.equal(false);
    expect(host.general.messages).to.have.length(before + 1);
  });
});
