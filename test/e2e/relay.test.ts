import type { AgentTurn } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { type AgentBot, settleAgent, startAgentBot } from '../plugins/relay/surface/guild-with-agent.js';

/** What an agent in the field does: reads what there is, and answers as a reply. */
const READS_AND_REPLIES = async (turn: AgentTurn) => {
  const channelId =
    /(?:\(ID: |\*\*Channel \(DM\) ID:\*\* )(\d+)/.exec(turn.prompt)?.[1] ?? /channelId (\d+)/.exec(turn.prompt)?.[1];
  const messageId = /\*{0,2}Message ID:\*{0,2} (\d+)\n/.exec(turn.prompt)?.[1];
  if (messageId === undefined)
    return void (await turn.callTool('discord_send', { channelId, message: 'I am connected.' }));
  const read = await turn.callTool('discord_read_messages', { channelId, limit: 10 });
  const lines = read.text.split('\n').length;
  await turn.callTool('discord_send', {
    channelId,
    message: read.status === 'success' ? `I have read ${lines > 0 ? 'it' : 'nothing'}.` : read.text,
    replyToMessageId: messageId,
  });
};

describe('relay: an agent that lives in the guild', () => {
  let bot: AgentBot;
  beforeEach(async () => {
    bot = await startAgentBot({ script: READS_AND_REPLIES });
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
    expect(report.content.split('\n').map((line) => line[0])).to.deep.equal(['✓', '✓', '✓', '✓', '✓', '✓', '✓']);
    expect(posted.channel.id).to.equal(bot.general.id);
  });

  it('answers a mention: it reads the channel, and replies', async () => {
    await settleAgent(bot);
    const asked = await bot.says(bot.alice, `${bot.bot} what was said here?`);
    const answer = await bot.discord.expectMessage({ author: bot.bot, content: 'I have read it.' });
    expect(answer.replyTo).to.equal(asked);
  });
});
