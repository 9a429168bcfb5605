import { Identities, McpEndpoint, ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, answering, letIn, startAgentBot } from '../harness.js';

describe('relay: setting up one agent beside another', () => {
  let bot: AgentBot;
  beforeEach(async () => {
    bot = await startAgentBot({ script: answering('Hello.') });
    await letIn(bot, 'aurora');
    await bot.admin('!relay grant tool discord_create_forum_post allow aurora');
    await bot.admin('!relay setup aurora');
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const toolsAt = async (name: string) => {
    const { Letta } = await import('@letta-ai/letta-client');
    const client = new Letta({ baseURL: bot.letta.baseUrl, apiKey: 'any' });
    const agent = (await client.agents.list()).items.find((one) => one.name === name);
    return (await client.agents.tools.list(agent?.id ?? '')).items.map((tool) => tool.name);
  };

  it('leaves the tools of the other agent unchanged, with any rights', async () => {
    await letIn(bot, 'scout');
    await bot.admin('!relay grant tool discord_delete_message confirm scout');
    const report = await bot.admin('!relay setup scout');
    expect(await toolsAt('scout'))
      .to.include('discord_delete_message')
      .and.not.include('discord_create_forum_post');
    expect(await toolsAt('aurora'))
      .to.include('discord_create_forum_post')
      .and.not.include('discord_delete_message');
    expect(report).to.not.include('taken them from other agents');
  });

  it('leaves no session that sees all tools', async () => {
    expect(await bot.resolve(Identities).get('relay:listing')).to.equal(undefined);
    expect(await bot.resolve(McpEndpoint).has('relay:listing')).to.equal(false);
  });

  it('says whom to set up again when the server has taken a tool from others', async () => {
    await bot.resolve(ToolPolicies).set(bot.guild.id, 'discord_create_forum_post', 'deny');
    await letIn(bot, 'scout');
    await bot.admin('!relay grant tool discord_delete_message confirm scout');
    bot.you.say(bot.general, '!relay setup scout');
    await bot.quiet();
    const report = await bot.discord.expectMessage({ author: bot.bot, content: /taken them from other agents/ });
    expect(report.content).to.include('discord\\_create\\_forum\\_post').and.include('`relay setup aurora`');
  });
});
