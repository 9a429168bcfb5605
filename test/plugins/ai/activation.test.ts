import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createMind, type Mind } from './harness.js';

const ping = definePlugin({
  manifest: { id: 'ping', version: '1.0.0', description: 'Answers ping', intents: ['GuildMessages', 'MessageContent'] },
  setup: ({ command }) => void command({ name: 'ping', description: 'Answers ping', run: (ctx) => ctx.reply('pong') }),
});

describe('ai: what is said to the bot', () => {
  let host: TestHost;
  let mind: Mind;

  beforeEach(async () => {
    mind = createMind('chat');
    host = await createTestHost({ plugins: ['ai', ping, mind.plugin] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const heard = () => mind.turns.map(({ trigger, text }) => `${trigger}: ${text}`);
  const fromBot = async (): Promise<LocalMessage> => {
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    return host.discord.expectMessage({ author: host.bot });
  };

  it('is `!ai` and its text, quotes and line breaks kept', async () => {
    host.alice.say(host.general, '!ai Say "hello"\nto  Bob');
    await host.settled();
    expect(heard()).to.deep.equal(['command: Say "hello"\nto  Bob']);
    await host.discord.expectMessage({ author: host.bot, content: 'chat heard: Say "hello"\nto  Bob' });
  });

  it('is `/ai`, answered in the interaction', async () => {
    const interaction = host.alice.slash(host.general, 'ai', { text: 'Hello' });
    await host.settled();
    expect(heard()).to.deep.equal(['command: Hello']);
    expect(interaction.messages.map(({ content }) => content)).to.deep.equal(['chat heard: Hello']);
  });

  it('is a mention, without the mention', async () => {
    host.alice.say(host.general, `${host.bot}, what is up?`);
    host.alice.say(host.general, `what is up, ${host.bot}`);
    await host.settled();
    expect(heard()).to.deep.equal(['mention: what is up?', 'mention: what is up,']);
  });

  it('is a reply to the bot, with or without its ping', async () => {
    const message = await fromBot();
    host.bob.say(host.general, 'Really?', { replyTo: message });
    host.bob.say(host.general, 'Are you sure?', { replyTo: message, ping: false });
    await host.settled();
    expect(heard().slice(1)).to.deep.equal(['reply: Really?', 'reply: Are you sure?']);
  });

  it('is anything in a direct message', async () => {
    host.alice.say(host.alice.openDm(host.bot), 'Hello');
    await host.settled();
    expect(heard()).to.deep.equal(['dm: Hello']);
    expect(mind.turns[0]?.actor.guildId).to.equal(null);
  });

  it('is not what people say to each other', async () => {
    const bobs = host.bob.say(host.general, 'Hello Cinnabar');
    host.alice.say(host.general, 'Not you', { replyTo: bobs });
    host.alice.say(host.general, `${host.bob} hello`);
    await host.settled();
    expect(heard()).to.deep.equal([]);
  });

  it('is not a mention of everyone or of a role, the bot’s own included', async () => {
    const roles = [...host.guild.memberOf(host.bot).roles];
    expect(roles.length).to.be.greaterThan(0);
    host.you.say(host.general, `@everyone @here ${roles.map(({ id }) => `<@&${id}>`).join(' ')} hello`);
    await host.settled();
    expect(heard()).to.deep.equal([]);
  });

  it('is not a message that runs a command', async () => {
    host.alice.say(host.general, `${host.bot} ping`);
    host.alice.say(host.alice.openDm(host.bot), '!ping');
    await host.settled();
    expect(heard()).to.deep.equal([]);
  });

  it('is not what other bots say', async () => {
    const other = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(other);
    other.user.say(host.general, `${host.bot} hello`);
    other.user.say(host.general, '!ai hello');
    await host.settled();
    expect(heard()).to.deep.equal([]);
  });

  it('is nothing where the bot may not write', async () => {
    const quiet = host.guild.createChannel({ name: 'quiet' });
    host.guild.overwrite(quiet, { for: host.bot, deny: ['SendMessages'] });
    host.alice.say(quiet, `${host.bot} hello`);
    await host.settled();
    expect(heard()).to.deep.equal([]);
  });
});
