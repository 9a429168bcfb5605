import { Identities, McpEndpoint } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, letIn, settleAgent, shareAgentBot } from '../harness.js';

describe('relay: the agents of a server', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Done.') });
  beforeEach(async () => {
    bot = await open();
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const grantOf = async (name: string) =>
    (await bot.resolve(Identities).get(`relay:${bot.guild.id}:${name}`))?.grants.find(
      (one) => one.guildId === bot.guild.id,
    );

  it('is added by an admin, for the channel of the command, to read, answer and react', async () => {
    await letIn(bot, 'Aurora');
    const grant = await grantOf('aurora');
    expect(grant).to.include({ userId: bot.you.id, channelId: bot.general.id });
    expect(grant?.channels).to.deep.equal([bot.general.id]);
    expect(grant?.tools).to.include({
      discord_read_messages: 'allow',
      discord_send: 'allow',
      discord_add_reaction: 'allow',
    });
    expect(grant?.tools).to.not.have.any.keys(
      'discord_delete_message',
      'discord_create_webhook',
      'discord_delete_channel',
    );
    const shown = await bot.admin('!relay show');
    expect(shown).to.include('**Aurora** (the default)').and.include(`<@${bot.you.id}>`).and.include('`discord_send`');
  });

  it('cannot be added by members', async () => {
    for (const text of [
      'agent agent-1',
      'enable',
      'config dayTurns 1',
      'show',
      'grant everywhere',
      'wake',
      'mode always',
      'errors',
    ]) {
      const since = bot.alice.say(bot.general, `!relay ${text}`);
      await bot.settled();
      const { content } = await bot.discord.expectMessage({ author: bot.bot, since });
      expect(content, text).to.match(/^You may not do that/);
    }
  });

  it('gets more and fewer rights from admins', async () => {
    await letIn(bot);
    const lounge = bot.guild.createChannel({ name: 'lounge' });
    await bot.settled();
    expect(await bot.admin(`!relay grant channel <#${lounge.id}>`)).to.include('may go into');
    expect((await grantOf('aurora'))?.channels).to.deep.equal([bot.general.id, lounge.id]);
    await bot.admin(`!relay ungrant channel <#${bot.general.id}> aurora`);
    expect((await grantOf('aurora'))?.channels).to.deep.equal([lounge.id]);
    await bot.admin('!relay grant tool discord_delete_message confirm');
    expect((await grantOf('aurora'))?.tools).to.include({ discord_delete_message: 'confirm' });
    expect(await bot.admin('!relay show')).to.include('wait for a 👍 each time: `discord_delete_message`');
    await bot.admin('!relay ungrant tool discord_delete_message');
    expect((await grantOf('aurora'))?.tools).to.not.have.property('discord_delete_message');
    expect(await bot.admin('!relay grant tool discord_fly')).to.include('There is no tool called "discord_fly"');
    await bot.admin('!relay grant everywhere');
    expect((await grantOf('aurora'))?.channels).to.equal('all');
    await bot.admin('!relay ungrant everywhere');
    expect((await grantOf('aurora'))?.channels).to.deep.equal([bot.general.id]);
  });

  it('answers only in channels of its grant', async () => {
    await letIn(bot);
    const lounge = bot.guild.createChannel({ name: 'lounge' });
    await bot.settled();
    await bot.says(bot.alice, `${bot.bot} hello`, lounge);
    const { content } = await bot.discord.expectMessage({ channel: lounge, author: bot.bot });
    expect(content).to.include('`aurora` has not been let into this channel');
    expect(bot.prompts).to.have.length(0);
  });

  it('is removed with all its rights', async () => {
    await settleAgent(bot);
    const identity = `relay:${bot.guild.id}:aurora`;
    expect(await bot.resolve(McpEndpoint).has(identity)).to.equal(true);
    expect(await bot.admin('!relay remove aurora')).to.include('sent away');
    expect(await bot.resolve(McpEndpoint).has(identity)).to.equal(false);
    expect(await bot.resolve(Identities).get(identity)).to.equal(undefined);
    await bot.says(bot.alice, `${bot.bot} hello`);
    await bot.discord.expectMessage({ author: bot.bot, content: /No agent answers here yet/ });
  });

  it('lives in one place', async () => {
    const id = await letIn(bot);
    const other = bot.discord.createGuild({ name: 'Elsewhere', owner: bot.you });
    other.invite(bot.application);
    const lobby = other.createChannel({ name: 'lobby' });
    await bot.settled();
    expect(await bot.admin(`!relay agent ${id}`, lobby)).to.include('This agent lives in another server');
    expect(await bot.admin(`!relay agent ${id} second`)).to.include('lives here already, as `aurora`');
    expect(await bot.admin(`!relay dm agent ${id}`)).to.include('lives in another server');
  });

  it('is one of several, by channel or by name', async () => {
    const aurora = await letIn(bot);
    const lounge = bot.guild.createChannel({ name: 'lounge' });
    await bot.settled();
    const { id: scout } = bot.letta.addAgent({ name: 'scout' });
    await bot.admin(`!relay agent ${scout} scout <#${lounge.id}>`);
    await bot.admin('!relay config rate_limit_seconds 0');
    await bot.says(bot.alice, `${bot.bot} hello`);
    await bot.says(bot.alice, `${bot.bot} hello`, lounge);
    await bot.admin(`!relay grant channel <#${bot.general.id}> scout`);
    await bot.says(bot.alice, `${bot.bot} scout, hello`);
    expect(bot.letta.runs.map(({ agentId }) => agentId)).to.deep.equal([aurora, scout, scout]);
  });
});
