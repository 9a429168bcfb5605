import type { AgentTurn } from '@cinnabar/local-letta';
import { Identities } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, answering, namedIn, settleAgent, startAgentBot } from '../plugins/relay/harness.js';

/** The behaviour of a typical agent: it reads messages, and answers with a reply. */
const READS_AND_REPLIES = async (turn: AgentTurn) => {
  const { channelId, messageId } = namedIn(turn.prompt);
  if (messageId === undefined) return void (await answering('')(turn));
  const read = await turn.callTool('discord_read_messages', { channelId, limit: 10 });
  await turn.callTool('discord_send', {
    channelId,
    message: /\d+ messages? in /.test(read.text) ? 'I have read it.' : read.text,
    replyToMessageId: messageId,
  });
};

describe('relay: an agent that lives in the guild', () => {
  let bot: AgentBot;
  beforeEach(async () => {
    bot = await startAgentBot({ script: READS_AND_REPLIES, plugins: ['accounts'] });
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  it('is set up by an admin, step by step, and proves that it can post', async () => {
    const { id } = bot.letta.addAgent({ name: 'Aurora' });
    expect(await bot.admin(`!relay agent ${id}`)).to.include('`Aurora` is the agent');
    await bot.admin('!relay enable');
    await bot.admin('!ai use relay');
    const since = bot.you.say(bot.general, '!relay setup');
    await bot.quiet();
    const posted = await bot.discord.expectMessage({ author: bot.bot, content: 'I am connected.', since });
    const report = await bot.discord.expectMessage({ author: bot.bot, content: /✓/, since });
    expect(report.content.split('\n').map((line) => line[0])).to.deep.equal(Array(8).fill('✓'));
    expect(report.content).to.include('version 0.16.8').and.include('From 0.16.7 on it refuses tools');
    expect(posted.channel.id).to.equal(bot.general.id);
  });

  it('answers a mention: it reads the channel, and replies', async () => {
    await settleAgent(bot);
    const asked = await bot.says(bot.alice, `${bot.bot} what was said here?`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'I have read it.' });
    expect(answer.replyTo).to.equal(asked);
    expect(bot.prompts.at(-1))
      .to.include('You received a mention or reply on Discord from alice')
      .and.include(
        '- discord_send(channelId, message, replyToMessageId): Send messages to channels, optionally as a reply',
      );
  });

  it('is shown a chain of replies, its five latest messages, oldest first', async () => {
    await settleAgent(bot);
    let last = bot.bob.say(bot.general, 'said 1');
    for (const number of [2, 3, 4, 5, 6, 7])
      last = bot.bob.say(bot.general, `said ${number}`, { replyTo: last, ping: false });
    const asked = await bot.says(bot.alice, `${bot.bot} what do you say?`, bot.general, last);
    const shown = /\*\*Reply Thread:\*\*\n([\s\S]*?)\n\n/.exec(bot.prompts.at(-1) ?? '')?.[1]?.split('\n') ?? [];
    expect(shown.map((line) => line.slice(-6))).to.deep.equal(['said 3', 'said 4', 'said 5', 'said 6', 'said 7']);
    expect((await bot.discord.expectMessage({ author: bot.bot, content: 'I have read it.' })).replyTo).to.equal(asked);
  });

  it('answers in a thread', async () => {
    await settleAgent(bot);
    const thread = bot.alice.startThread(bot.general, 'aside');
    const asked = await bot.says(bot.alice, `${bot.bot} and here?`, thread);
    const answer = await bot.discord.expectMessage({ author: bot.bot, channel: thread, content: 'I have read it.' });
    expect(answer.replyTo).to.equal(asked);
  });

  it('answers a direct message once its author has agreed, and goes nowhere else', async () => {
    await settleAgent(bot);
    const own = bot.letta.addAgent({ name: 'confidant' });
    await bot.admin(`!relay dm agent ${own.id}`);
    const owners = bot.you.openDm(bot.application);
    await bot.admin('!ai use relay', owners);
    expect(await bot.admin('!relay dm setup', owners)).to.include('Say `relay dm on` first');
    await bot.admin('!relay dm on', owners);
    bot.you.say(owners, '!relay dm setup');
    await bot.quiet();
    expect(
      (await bot.discord.expectMessage({ channel: owners, content: /✓ It has posted here/ })).content,
    ).to.not.include('✗');

    const dm = bot.alice.openDm(bot.application);
    bot.alice.say(dm, '!ai use relay');
    await bot.quiet();
    const told = bot.prompts.length;
    const asked = await bot.says(bot.alice, 'Can you hear me?', dm);
    const question = await bot.discord.expectMessage({ channel: dm, content: /An agent can answer you here/ });
    expect(bot.prompts).to.have.length(told);
    bot.alice.click(question, 'Yes, answer me');
    await bot.quiet();
    const answer = await bot.discord.expectMessage({ channel: dm, content: 'I have read it.' });
    expect(answer.replyTo).to.equal(asked);
    const [grant] = (await bot.resolve(Identities).get('relay:dm'))?.grants ?? [];
    expect(grant)
      .to.include({ guildId: null, userId: bot.alice.id, channelId: dm.id })
      .and.deep.include({ channels: [dm.id] });
    expect(bot.prompts.at(-1)).to.match(/^You received a direct message on Discord\.\n\n\*\*From:\*\* alice/);
  });

  it('reaches only the conversation of its event', async () => {
    const tried: string[] = [];
    const owners = bot.you.openDm(bot.application);
    const own = bot.letta.addAgent({
      name: 'confidant',
      script: async (turn) => {
        for (const channelId of [bot.general.id, owners.id]) {
          for (const [tool, more] of [
            ['discord_read_messages', {}],
            ['discord_send', { message: 'Listen' }],
          ] as const) {
            const { status } = await turn.callTool(tool, { channelId, ...more });
            if (turn.prompt.includes('alice')) tried.push(status);
          }
        }
        await answering('Here.')(turn);
      },
    });
    await bot.admin(`!relay dm agent ${own.id}`);
    await bot.admin('!ai use relay', owners);
    await bot.admin('!relay dm on', owners);
    bot.you.say(owners, '!relay dm setup');
    await bot.quiet();
    const dm = bot.alice.openDm(bot.application);
    for (const said of ['!relay dm on', '!ai use relay', 'Hello']) await bot.says(bot.alice, said, dm);
    await bot.discord.expectMessage({ channel: dm, content: 'Here.' });
    expect(tried).to.deep.equal(['error', 'error', 'error', 'error']);
  });

  it('tells why it answered, and what it used', async () => {
    await settleAgent(bot);
    await bot.says(bot.alice, `${bot.bot} hello`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'I have read it.' });
    const since = bot.alice.say(bot.general, '!why', { replyTo: answer, ping: false });
    await bot.quiet();
    const { content } = await bot.discord.expectMessage({ author: bot.bot, since });
    expect(content).to.include('I was mentioned').and.include('discord\\_send');
  });
});
