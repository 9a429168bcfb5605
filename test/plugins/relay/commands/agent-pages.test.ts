import { AuditLog, Identities } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../../web/browser.js';
import { type AgentBot, startAgentBot } from '../harness.js';

describe('relay: agents and their rights in the dashboard', () => {
  let bot: AgentBot;
  before(async () => {
    bot = await startAgentBot({ plugins: ['admin', 'web'], env: { CINNABAR_WEB: '0' } });
  });
  after(() => bot[Symbol.asyncDispose]());

  const signedIn = async (userId: string) => {
    const browser = openBrowser(bot);
    await browser.signIn(userId);
    const guild = `guild=${bot.guild.id}`;
    return {
      see: async (agent: string) =>
        JSON.stringify((await browser.get(`/api/pages/relay/agent?${guild}&agent=${agent}`)).body),
      async act(name: string, input: object, page = 'agent') {
        const { status, body } = await browser.act(`/api/pages/relay/${page}/acts/${name}?${guild}`, input);
        return { status, text: JSON.stringify(body) };
      },
    };
  };
  const grant = async (key: string) => (await bot.resolve(Identities).get(`relay:${bot.guild.id}:${key}`))?.grants[0];

  it('let an agent in, further, and back, as the commands do it', async () => {
    const { id } = bot.letta.addAgent({ name: 'aurora' });
    const owner = await signedIn(bot.you.id);
    const { general, guild } = bot;
    const maps = guild.createChannel({ name: 'maps' });
    await bot.settled();
    expect((await owner.act('agent', { id, channel: general.id }, 'agents')).text).to.include('`aurora` is the agent');
    expect(await owner.see('aurora'))
      .to.include(id)
      .and.include(`relay:${guild.id}:aurora`)
      .and.include('discord_send');

    await owner.act('grant-channel', { agent: 'aurora', channel: maps.id });
    await owner.act('grant-tool', { agent: 'aurora', tool: 'discord_delete_message', policy: 'confirm' });
    expect(await grant('aurora')).to.deep.include({ userId: bot.you.id, channels: [general.id, maps.id] });
    expect((await grant('aurora'))?.tools).to.include({ discord_delete_message: 'confirm' });
    expect(await bot.admin('!relay show aurora'))
      .to.include('`discord_delete_message`')
      .and.include(`<#${maps.id}>`);

    await owner.act('everywhere', { agent: 'aurora' });
    expect((await grant('aurora'))?.channels).to.equal('all');
    expect((await owner.act('ungrant-channel', { agent: 'aurora', channel: maps.id })).status).to.equal(422);
    await owner.act('only', { agent: 'aurora', channel: maps.id });
    await owner.act('ungrant-tool', { agent: 'aurora', tool: 'discord_delete_message' });
    expect(await grant('aurora')).to.deep.include({ channels: [maps.id] });
    expect((await grant('aurora'))?.tools).not.to.have.property('discord_delete_message');

    const renamed = await owner.act('rename', { agent: 'aurora', name: 'scout' });
    expect(renamed.text).to.include('"agent":"scout"');
    expect((await owner.act('move', { agent: 'scout', channel: general.id })).text).to.include('`scout` answers in');
    expect((await owner.act('remove', { agent: 'scout' })).text).to.include('`scout` is sent away');
    expect(await grant('aurora')).to.equal(undefined);

    await bot.settled();
    const acts = (await bot.resolve(AuditLog).recent(guild.id, 30)).map(({ act, outcome }) => `${act}: ${outcome}`);
    expect(acts).to.include.members([
      `relay agent ${id}: done`,
      `relay grant channel <#${maps.id}> aurora: done`,
      'relay grant tool discord_delete_message confirm aurora: done',
      'relay grant everywhere aurora: done',
      `relay ungrant channel <#${maps.id}> aurora: refused`,
      'relay ungrant tool discord_delete_message aurora: done',
      'relay rename aurora scout: done',
      'relay remove scout: done',
    ]);
  });

  it('say what is wrong: no channel, one of another server, no such tool or agent', async () => {
    const { id } = bot.letta.addAgent({ name: 'vega' });
    const owner = await signedIn(bot.you.id);
    const elsewhere = bot.discord.createGuild({ name: 'Elsewhere', owner: bot.you });
    elsewhere.invite(bot.application);
    const secret = elsewhere.createChannel({ name: 'secret' });
    await bot.settled();
    for (const channel of [undefined, secret.id])
      expect((await owner.act('agent', { id, channel }, 'agents')).text).to.include('Choose a channel of this server');
    await owner.act('agent', { id, name: 'vega', channel: bot.general.id }, 'agents');
    expect((await owner.act('grant-channel', { agent: 'vega', channel: secret.id })).text).to.include(
      'Choose a channel',
    );
    expect((await owner.act('grant-tool', { agent: 'vega', tool: 'fly', policy: 'allow' })).text).to.include(
      'There is no tool called',
    );
    expect((await owner.act('rename', { agent: 'vega', name: 'no good' })).text).to.include('letters, digits');
    expect(await owner.see('nobody')).to.include('There is no agent called');
  });

  it('are for those whom the server lets use the commands, one by one', async () => {
    const { alice, you, guild } = bot;
    guild.giveRole(alice, guild.createRole({ name: 'Chiefs', permissions: ['ManageGuild'] }));
    await bot.settled();
    const admin = await signedIn(alice.id);
    expect((await admin.act('enable', {}, 'agents')).status).to.equal(200);
    await bot.admin(`!access deny "relay disable" <@${alice.id}>`);
    expect((await admin.act('disable', {}, 'agents')).status).to.equal(403);
    await bot.admin(`!access deny "relay grant everywhere" <@${alice.id}>`);
    expect((await admin.act('everywhere', { agent: 'vega' })).status).to.equal(403);
    expect((await (await signedIn(you.id)).act('disable', {}, 'agents')).status).to.equal(200);
  });
});
