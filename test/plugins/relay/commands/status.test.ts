import { PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, letIn, shareAgentBot } from '../harness.js';

describe('relay: what admins and members are shown', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Done.') });
  beforeEach(async () => {
    bot = await open();
    await letIn(bot);
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const linkTo = (id: string, channelId = bot.general.id) =>
    `https://discord.com/channels/${bot.guild.id}/${channelId}/${id}`;

  it('is the exact prompt that a message makes', async () => {
    const said = await bot.says(bot.alice, `${bot.bot} hello`);
    const since = bot.you.say(bot.general, `!relay context ${linkTo(said.id)}`);
    await bot.quiet();
    const shown = await bot.discord.expectMessage({ author: bot.bot, since });
    const [file] = shown.attachments;
    if (file === undefined) throw new Error('there is no file');
    expect(await (await fetch(file.url)).text()).to.equal(bot.prompts[0]);
  });

  it('is no message that the admin may not read themselves, nor one of another server', async () => {
    const admin = bot.guild.createRole({ name: 'Admin', permissions: ['ManageGuild'] });
    bot.guild.giveRole(bot.bob, admin);
    const secret = bot.guild.createChannel({ name: 'secret' });
    bot.guild.overwrite(secret, { for: bot.bob, deny: ['ViewChannel'] });
    const said = bot.you.say(secret, 'A secret');
    await bot.settled();
    for (const link of [linkTo(said.id, secret.id), linkTo('1'), 'https://discord.com/channels/1/2/3', 'hello']) {
      const since = bot.bob.say(bot.general, `!relay context ${link}`);
      await bot.quiet();
      const { content, attachments } = await bot.discord.expectMessage({ author: bot.bot, since });
      expect(content, link).to.match(/may not|not in this server|Give the link/);
      expect(attachments).to.have.length(0);
    }
  });

  it('is what went wrong: a sentence to the member, and more to admins', async () => {
    bot.letta.faults.fail(401, { times: 20 });
    await bot.says(bot.alice, `${bot.bot} hello`);
    await bot.discord.expectMessage({ author: bot.bot, content: /does not accept the bot's key/ });
    bot.letta.faults.clear();
    expect(await bot.admin('!relay errors')).to.match(/`aurora`: .*does not accept the bot's key/);
    expect(bot.general.messages.map(({ content }) => content).join('\n')).not.to.match(/LETTA_|127\.0\.0\.1:/);
    await bot.advance(10_000);
    const notices = bot.you.openDm(bot.application).messages.map(({ content }) => content);
    expect(notices.join('\n'), 'for the owner').to.include('LETTA_API_KEY');
  });

  it('is how things stand', async () => {
    await bot.says(bot.alice, `${bot.bot} hello`);
    const status = await bot.admin('!relay status');
    expect(status)
      .to.include('switched on')
      .and.include('They answer in this channel')
      .and.include('`aurora` (the default) answers');
    expect(status).to.match(/Today: 1 prompts, \d+ tokens, 0 of 4 wake-ups/);
    expect(await bot.admin('!relay config')).to.include('`agent_timeout` = `60`');
    expect(await bot.admin('!relay config agent_timeout 0')).to.match(/not right/);
    expect(await bot.admin('!relay config quietHours late')).to.include('22:00-07:00');
    expect(await bot.admin('!relay config nothing')).to.include('There is no setting "nothing"');
  });

  it('is, to each person, what is kept of them, until they want it forgotten', async () => {
    await bot.admin('!relay pause');
    await bot.says(bot.alice, `${bot.bot} remember me`);
    const store = bot.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(bot.alice.id))).to.include('remember me');
    await store.forget(bot.alice.id);
    expect(JSON.stringify(await store.export(bot.alice.id))).to.not.include('remember me');
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.prompts).to.have.length(0);
  });
});
