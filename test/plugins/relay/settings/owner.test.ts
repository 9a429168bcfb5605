import { startLettaStandIn } from '@cinnabar/local-letta';
import { expect } from 'chai';
import { type AgentBot, letIn, startAgentBot } from '../harness.js';

describe('relay: settings of the owner', () => {
  let bot: AgentBot;
  beforeEach(async () => {
    bot = await startAgentBot({ script: (turn) => turn.say('Done.'), plugins: ['admin'] });
  });
  afterEach(() => bot[Symbol.asyncDispose]());

  it('baseUrl: the Letta server, from the next message on', async () => {
    await using other = await startLettaStandIn({ clock: bot.clock, script: (turn) => turn.say('Done.') });
    await letIn(bot);
    await bot.says(bot.alice, `${bot.bot} one`);
    await bot.admin(`!set relay baseUrl ${other.baseUrl}`);
    const { id } = other.addAgent({ name: 'nova' });
    await bot.admin(`!relay agent ${id} aurora`);
    bot.alice.say(bot.general, `${bot.bot} two`);
    await bot.settled();
    await bot.advance(2_000);
    await other.started(1);
    await other.idle();
    await bot.settled();
    expect(bot.letta.runs.map(({ prompt }) => prompt?.includes('two'))).to.deep.equal([false]);
    expect(other.runs.map(({ prompt }) => prompt?.includes('two'))).to.deep.equal([true]);
    expect(await bot.admin('!set relay baseUrl ftp://example.org')).to.include('https://letta.example.org');
  });

  it('mcpUrl: the address of the tools that the Letta server is told', async () => {
    await letIn(bot);
    await bot.admin('!set relay mcpUrl http://127.0.0.1:9/mcp');
    const report = await bot.admin('!relay setup');
    expect(report).to.include('127.0.0.1:9/mcp').and.include('✗');
    const registered = bot.letta.requests.filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/v1/mcp-servers'),
    );
    expect(JSON.stringify(registered.map(({ body }) => body))).to.include('http://127.0.0.1:9/mcp');
  });

  it('are not for admins of a server', async () => {
    const admin = bot.guild.createRole({ name: 'Admin', permissions: ['ManageGuild'] });
    bot.guild.giveRole(bot.bob, admin);
    await bot.settled();
    for (const text of [
      '!set relay baseUrl http://127.0.0.1:1',
      '!set relay mcpUrl http://127.0.0.1:1',
      '!relay dm agent agent-1',
    ]) {
      const since = bot.bob.say(bot.general, text);
      await bot.settled();
      expect((await bot.discord.expectMessage({ author: bot.bot, since })).content, text).to.match(/may not/);
    }
  });
});
