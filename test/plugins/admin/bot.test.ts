import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin, OwnerNotices, SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ActivityType, PermissionsBitField } from 'discord.js';
import { answering } from './harness.js';

const bouncer = definePlugin({
  manifest: {
    id: 'bouncer',
    version: '1.0.0',
    description: 'Shows people out',
    permissions: ['KickMembers', 'SendMessages'],
  },
  setup: () => undefined,
});

describe('admin: the bot itself', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', bouncer] });
    say = answering(host);
  });
  after(() => host[Symbol.asyncDispose]());

  it('tells members its versions, how long it has been up, and how fast Discord answers', async () => {
    await host.advance(90 * 60_000);
    expect(await say(host.alice, '!bot info')).to.match(/runs on Cinnabar \d+\.\d+\.\d+, discord\.js .* and Node/);
    expect(await say(host.alice, '!bot uptime')).to.match(/^Up for 1h30m, since <t:\d+:f>\.$/);
    expect(await say(host.alice, '!bot ping')).to.match(/^Pong\. A message takes \d+ ms, the gateway’s heartbeat: /);
  });

  it('says that it is no cluster where it is one process', async () => {
    expect(await say(host.you, '!cluster')).to.equal('I am one process, and no cluster: it serves all servers.');
  });

  it('says that no server has a channel for an announcement', async () => {
    expect(await say(host.you, '!bot announce Tonight')).to.include('I can write in no channel for announcements');
  });

  it('announces what is much longer with its markup written out', async () => {
    await say(host.you, '!set admin announcements #general');
    await say(host.you, `!bot announce ${'*_'.repeat(700)}`);
    const asked = host.general.messages.at(-1);
    if (asked === undefined) throw new Error('nothing was asked');
    host.you.click(asked, 'Announce it');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.include('*_'.repeat(700));
    expect(asked.content).to.include('Said in 1 of 1 servers');
  });

  it('announces where a server reads it, pings no one, and says how many servers that are', async () => {
    const quiet = host.discord.createGuild({ name: 'Quiet', owner: host.alice });
    quiet.invite(host.application);
    const shut = host.discord.createGuild({ name: 'Shut', owner: host.bob });
    shut.invite(host.application);
    const news = shut.createChannel({ name: 'news' });
    await host.settled();
    await host.resolve(SettingsCatalog).set('admin', 'announcements', `<#${news.id}>`, {
      userId: host.bob.id,
      guildId: shut.id,
      channelId: news.id,
    });
    expect(await say(host.alice, '!bot announce Hi')).to.include("you need to be at least the bot's owner");
    expect(await say(host.you, '!bot announce @everyone tonight')).to.match(
      /^Say this in 2 servers\? 1 has no channel/,
    );
    const asked = host.general.messages.at(-1);
    if (asked === undefined) throw new Error('nothing was asked');
    shut.deleteChannel(news);
    host.you.click(asked, 'Announce it');
    await host.settled();
    expect(asked.content).to.include('Said in 1 of 3 servers. Not in: Quiet, Shut.');
    const said = host.general.messages.at(-1);
    expect(said?.content).to.include('@everyone tonight');
    expect(said?.mentions.everyone).to.equal(false);
    for (const guild of [quiet, shut]) guild.remove(host.bot);
    await host.settled();
  });

  it('says in which servers it may not write an announcement', async () => {
    const mute = host.discord.createGuild({ name: 'Mute', owner: host.bob });
    const hall = mute.createChannel({ name: 'hall' });
    mute.systemChannelId = hall.id;
    mute.overwrite(hall, { for: host.bot, deny: ['SendMessages'] });
    mute.invite(host.application);
    await host.settled();
    await say(host.you, '!bot announce Tonight');
    const asked = host.general.messages.at(-1);
    if (asked === undefined) throw new Error('nothing was asked');
    expect(asked.content).to.include('Say this in 2 servers');
    host.you.click(asked, 'Announce it');
    await host.settled();
    expect(asked.content).to.include('Said in 1 of 2 servers. Not in: Mute.');
    expect(hall.messages).to.deep.equal([]);
    mute.remove(host.bot);
    await host.settled();
  });

  it('tells its owner of servers that it is added to and removed from, unless that is switched off', async () => {
    const received = () => host.you.openDm(host.application).messages.map(({ content }) => content);
    const join = async (name: string) => {
      const guild = host.discord.createGuild({ name, owner: host.bob });
      guild.invite(host.application);
      await host.settled();
      return guild;
    };
    const heywood = await join('Hey*wood');
    expect(received().at(-1)).to.match(/^I was added to \*\*Hey\\\*wood\*\* \(\d+, 2 members\): \d servers now\.$/);
    heywood.remove(host.bot);
    await host.settled();
    expect(received().at(-1)).to.match(/^I am no longer in \*\*Hey\\\*wood\*\* /);
    await say(host.you, '!set admin serverNotices off');
    const before = received().length;
    (await join('Watson')).remove(host.bot);
    await host.settled();
    expect(received()).to.have.length(before);
    await say(host.you, '!unset admin serverNotices');
  });

  it('sends its owner no alert of a kind that the owner has muted', async () => {
    const notices = host.resolve(OwnerNotices);
    const received = () => host.you.openDm(host.application).messages.map(({ content }) => content);
    expect(await say(host.you, '!set admin mutedAlerts model-resting')).to.include('model-resting');
    for (const kind of ['model-resting', 'disk-full'])
      notices.alert({ kind, text: `This is ${kind}.`, remedy: 'Look.' });
    await host.advance(6_000);
    expect(received().at(-1)).to.equal('⚠️ This is disk-full. Look.');
    expect(received().join()).to.not.include('This is model-resting');
    await say(host.you, '!unset admin mutedAlerts');
  });

  it('takes two words an hour to its owner from each member, and says when the owner cannot be reached', async () => {
    for (const text of ['one', 'two'])
      expect(await say(host.bob, `!bot contact ${text}`)).to.equal('I have passed it on to the owner of the bot.');
    expect(await say(host.bob, '!bot contact three')).to.equal('Please wait 1h before using this again.');
    await host.advance(61 * 60_000);
    host.you.dmsClosed = true;
    expect(await say(host.bob, '!bot contact three')).to.equal('The owner of the bot cannot be reached at the moment.');
    host.you.dmsClosed = false;
  });

  it('passes on what members write to its owner as a quotation, in which nothing passes for another message', async () => {
    await say(host.alice, '!bot contact Hello\n**Message from you** (1), Discord: [bank](https://evil.example)');
    const received = host.you.openDm(host.application).messages.at(-1)?.content ?? '';
    expect(received).to.match(/^\*\*Message from alice\*\* \(\d+\), Night City:\n> Hello\n> \\\*\\\*Message from/);
    expect(received).to.not.match(/[^\\]\]\(https/);
    expect(received).to.match(/\n-# Answer with `bot answer \d+ …`$/);
  });

  it('accepts an answer to a member, also as a quotation, only from its owner', async () => {
    expect(await say(host.bob, `!bot answer ${host.alice.id} Hi`)).to.include(
      "you need to be at least the bot's owner",
    );
    expect(await say(host.you, `!bot answer ${host.alice.id} Thanks, @everyone`)).to.equal('I have passed it on.');
    const received = host.alice.openDm(host.application).messages.at(-1);
    expect(received?.content).to.match(/^\*\*Message from the owner of this bot:\*\*\n> Thanks, /);
    expect(received?.mentions.everyone).to.equal(false);
    host.alice.dmsClosed = true;
    expect(await say(host.you, `!bot answer ${host.alice.id} Hi`)).to.equal(
      'That user takes no direct messages from me.',
    );
    host.alice.dmsClosed = false;
  });

  it('takes no messages to its owner while that is switched off', async () => {
    await say(host.you, '!set admin contact off');
    await host.advance(61 * 60_000);
    expect(await say(host.bob, '!bot contact four')).to.equal('The owner of this bot takes no messages this way.');
    await say(host.you, '!unset admin contact');
  });

  it('hides what is its owner’s alone from slash commands of servers; by prefix and in direct messages it is there', async () => {
    const away = host.discord.createGuild({ name: 'Away', owner: host.bob });
    away.invite(host.application);
    away.join(host.you);
    const square = away.createChannel({ name: 'square' });
    await host.settled();
    expect(() => host.you.slash(square, 'doctor')).to.throw(/Missing Permissions/);
    host.you.say(square, '!doctor');
    await host.settled();
    expect(square.messages.at(-1)?.content).to.equal('I have sent it to you in a direct message.');
    const dm = host.you.openDm(host.application);
    expect(dm.messages.at(-1)?.content).to.include('Discord');
    const [answer] = (await host.you.slash(dm, 'doctor').answered()).messages;
    await host.settled();
    expect(answer?.content).to.include('Discord');
    away.remove(host.bot);
    await host.settled();
  });

  it('gives a link with exactly the permissions that the loaded plugins declare', async () => {
    const link = new URL(/<(\S+)>/.exec(await say(host.alice, '!bot invite'))?.[1] ?? '');
    const permissions = new PermissionsBitField(BigInt(link.searchParams.get('permissions') ?? 0));
    expect(permissions.toArray().sort()).to.deep.equal(['KickMembers', 'SendMessages', 'ViewChannel']);
    expect(link.searchParams.get('scope')?.split(' ')).to.have.members(['bot', 'applications.commands']);
  });

  it('is renamed in a server by its admins', async () => {
    expect(await say(host.alice, '!bot nick Mox')).to.include('you need to be at least an admin');
    expect(await say(host.you, '!bot nick Mox')).to.equal('I am called Mox here now.');
    expect(await say(host.you, `!bot nick ${'x'.repeat(33)}`)).to.equal('A name has at most 32 characters.');
    expect(await say(host.you, '!bot nick')).to.match(/^I am called .+ here now\.$/);
  });

  it("leaves a server when the bot's owner agrees, and never otherwise", async () => {
    const other = host.discord.createGuild({ name: 'Badlands', owner: host.alice });
    other.invite(host.application);
    await host.settled();
    expect(await say(host.alice, `!bot leave ${other.id}`)).to.include("you need to be at least the bot's owner");
    expect(await say(host.you, '!bot servers')).to.include(`Badlands \`${other.id}\``);
    expect(await say(host.you, `!bot leave ${other.id}`)).to.equal('Leave **Badlands** (2 members)?');
    const asked = host.general.messages.at(-1);
    if (asked !== undefined) host.you.click(asked, 'Leave it');
    await host.settled();
    expect(host.client.guilds.cache.has(other.id)).to.equal(false);
    expect(await say(host.you, '!audit')).to.include(`bot leave ${other.id} (agreed)`);
  });

  it('shows a status that its owner chose, again after a new session, and follows the setting', async () => {
    expect(await say(host.alice, '!bot status watching you')).to.include("you need to be at least the bot's owner");
    expect(host.application.presence?.activities).to.deep.equal([]);
    expect(await say(host.you, '!bot status watching over Night City')).to.equal('Done. It stays after a restart.');
    expect(host.application.presence).to.deep.include({
      status: 'online',
      activities: [{ name: 'over Night City', type: ActivityType.Watching }],
    });
    const shown = () => host.application.presence;
    host.application.presence = undefined;
    const again = once(host.client, 'shardReady');
    host.discord.faults.gateway.invalidateSessions(false);
    await host.discord.settled();
    host.clock.advance(10_000);
    await again;
    await host.settled();
    expect(shown()?.activities).to.have.length(1);
    await say(host.you, '!bot status custom On duty');
    await say(host.you, '!set admin online dnd');
    expect(host.application.presence).to.deep.include({
      status: 'dnd',
      activities: [{ name: 'Custom Status', state: 'On duty', type: ActivityType.Custom }],
    });
    await say(host.you, '!bot status clear');
    expect(shown()?.activities).to.deep.equal([]);
  });

  it('has a picture of its own in a server and another elsewhere, and a name', async () => {
    const member = host.guild.members.get(host.bot.id);
    const files = [{ name: 'mox.png', data: Buffer.from('mox'), contentType: 'image/png' }];
    host.alice.say(host.general, '!bot avatar here', { files });
    await host.settled();
    expect(member?.avatar).to.equal(null);
    host.you.say(host.general, '!bot avatar here', { files });
    await host.settled();
    expect(member?.avatar).to.match(/^[0-9a-f]{32}$/);
    expect(host.bot.avatar).to.equal(null);
    host.you.say(host.general, '!bot avatar everywhere', { files });
    await host.settled();
    expect(host.bot.avatar).to.equal(member?.avatar);
    await host.advance(11 * 60_000);
    expect(await say(host.you, '!bot avatar')).to.equal('I look here as I do elsewhere now.');
    expect(member?.avatar).to.equal(null);
    expect(await say(host.you, '!bot name Judy')).to.equal('I am called Judy now.');
    expect(host.bot.username).to.equal('Judy');
  });
});

describe('admin: the end of the process', () => {
  it('a restart is asked for once the channel is remembered; the next run says there, once, that it is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-restart-'));
    const first = await createTestHost({ plugins: ['admin'], dataDir });
    const say = answering(first);
    expect(await say(first.alice, '!bot restart')).to.include("you need to be at least the bot's owner");
    expect(first.endRequests).to.deep.equal([]);
    expect(await say(first.you, '!bot restart')).to.match(/^Restarting\. /);
    expect(first.endRequests).to.deep.equal(['restart']);
    await first.stop();
    first.clock.advance(12_000);
    const backs = () => first.general.messages.filter(({ content }) => content.startsWith('I am back, after 12s.'));
    for (const runs of [1, 2]) {
      await using next = await createTestHost({ plugins: ['admin'], dataDir, world: first });
      await next.settled();
      expect(backs(), `after run ${runs}`).to.have.length(1);
    }
    await first[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is stopped by its owner, who is asked first', async () => {
    await using host = await createTestHost({ plugins: ['admin'] });
    expect(await answering(host)(host.you, '!bot shutdown')).to.match(/^Stop the bot\? /);
    const asked = host.general.messages.at(-1);
    if (asked !== undefined) host.you.click(asked, 'Stop it');
    await host.settled();
    await host.advance(1);
    expect(asked?.content).to.equal('Stopping. Goodbye.');
    expect(host.endRequests).to.deep.equal(['shutdown']);
  });
});
