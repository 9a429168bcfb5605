import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { definePlugin, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';

/** Requests the intent without which Discord sends no joins. */
const members = definePlugin({
  manifest: { id: 'members', version: '1.0.0', description: 'Knows who joins', intents: ['GuildMembers'] },
  setup: () => undefined,
});

const plain = (text: string) => text.replaceAll(/[\u2063\u200B]/g, '').trimEnd();

describe('logging', () => {
  let host: TestHost;
  let log: LocalChannel;

  beforeEach(async () => {
    host = await createTestHost({ plugins: ['admin', 'moderation', 'logging', members] });
    log = host.guild.createChannel({ name: 'log' });
    // A channel for moderators, who may read events of all open channels.
    host.guild.overwrite(log, { for: host.guild.everyone, deny: ['ViewChannel'] });
    host.guild.overwrite(log, { for: host.bot, allow: ['ViewChannel', 'SendMessages', 'AttachFiles'] });
    await host.settled();
    host.you.say(host.general, '!plugin enable logging');
    await host.settled();
    await set(`channel ${log}`);
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const set = async (text: string) => {
    host.you.say(host.general, `!set logging ${text}`);
    await host.settled();
  };
  /** The log after all batches were sent. */
  const logged = async (): Promise<string> => {
    await host.settled();
    const before = log.messages.length;
    for (let n = 0; n < 3; n += 1) await host.advance(3_500);
    return log.messages
      .slice(before)
      .map(({ content }) => plain(content))
      .join('\n');
  };

  const setTopic = async ({ id }: LocalChannel, topic: string) => {
    const channel = host.client.channels.cache.get(id);
    if (channel !== undefined && 'setTopic' in channel) await channel.setTopic(topic);
    await host.settled();
  };

  it('writes what was edited and deleted, before and after, with who said it', async () => {
    const { alice, general } = host;
    const said = alice.say(general, 'helo **all**');
    await host.settled();
    alice.edit(said, 'hello all');
    expect(await logged()).to.match(
      /^✏️ \*\*alice\*\* \(<@\d+>\) edited a message in <#\d+>: https:\S+\nbefore: helo \\\*\\\*all\\\*\\\*\nafter: hello all$/,
    );
    alice.delete(said);
    expect(await logged()).to.match(/^🗑️ A message of \*\*alice\*\* \(<@\d+>\) was deleted in <#\d+>\n> hello all$/);
  });

  it('says when it does not know what a message said', async () => {
    const said = host.alice.say(host.general, 'long ago');
    await host.settled();
    const channel = host.client.channels.cache.get(host.general.id);
    if (channel?.isTextBased()) channel.messages.cache.clear();
    host.alice.delete(said);
    expect(await logged())
      .to.include('what it said is not known')
      .and.not.include('long ago');
  });

  it('leaves out what was said where not all readers of the log can read, and says so', async () => {
    const { guild, alice, bob, bot, you } = host;
    const staff = guild.createChannel({ name: 'staff' });
    guild.overwrite(staff, { for: guild.everyone, deny: ['ViewChannel'] });
    guild.overwrite(staff, { for: alice, allow: ['ViewChannel', 'SendMessages'] });
    guild.overwrite(staff, { for: bot, allow: ['ViewChannel', 'ReadMessageHistory'] });
    const open = guild.createChannel({ name: 'open-log' });
    await host.settled();
    await set(`channel ${open}`);
    await logged();
    const said = alice.say(staff, 'the xylophone is hidden');
    await host.settled();
    alice.edit(said, 'the xylophone is found');
    await host.settled();
    alice.delete(said);
    await host.settled();
    await setTopic(staff, 'xylophones');
    guild.deleteChannel(staff);
    for (let n = 0; n < 3; n += 1) await host.advance(3_500);
    const text = bob
      .read(open)
      .map(({ content }) => content)
      .join('\n');
    expect(text).to.include('edited a message').and.include('was deleted').and.include('is left out');
    expect(text).to.include('A channel that not all who read this can see was deleted');
    expect(text).to.not.match(/xylophone|staff/);
    expect(you.read(open).some(({ attachments }) => attachments.length > 0)).to.equal(false);
  });

  it('writes a purge as one entry with a file, by whom', async () => {
    const { alice, general, you } = host;
    for (let n = 0; n < 12; n += 1) alice.say(general, `spam ${n}`);
    await host.settled();
    you.say(general, '!purge 12');
    expect(await logged()).to.match(/^🗑️ 12 messages were deleted in <#\d+> by <@\d+> \(asked by you \(\d+\)\)$/);
    const file = log.messages.at(-1)?.attachments[0]?.data.toString() ?? '';
    expect(file.split('\n')).to.have.length(12);
    expect(file).to.match(/^2026-01-01T00:00:\d\d\.\d+Z alice \(\d+\): spam 0\n/);
  });

  it('logs joins, leaves, and changes of roles and nicknames with their author', async () => {
    const { guild, bob, discord } = host;
    const carol = discord.createUser({ name: 'carol' });
    guild.join(carol);
    await host.settled();
    guild.remove(carol);
    expect((await logged()).split('\n')).to.deep.equal([
      `📥 **carol** (${carol}) joined. The account was created <t:1767225600:R>.`,
      `📤 **carol** (${carol}) left. They joined <t:1767225600:R>.`,
    ]);
    for (const own of guild.roles.values()) if (own.botId !== undefined) guild.editRole(own, { position: 50 });
    const role = guild.createRole({ name: 'Solo', position: 1 });
    await host.settled();
    const bot = host.client.guilds.cache.get(guild.id);
    const member = await bot?.members.fetch(bob.id);
    await member?.roles.add(role.id, 'earned');
    await member?.setNickname('bobby');
    await member?.roles.remove(role.id);
    expect((await logged()).split('\n')).to.deep.equal([
      `🏷️ **bob** (${bob}) got <@&${role.id}> by ${host.bot} (earned)`,
      `📝 The nickname of **bob** (${bob}): no nickname → bobby by ${host.bot}`,
      `🏷️ **bob** (${bob}) lost <@&${role.id}> by ${host.bot}`,
    ]);
  });

  it('logs changes of channels', async () => {
    const { guild } = host;
    const channel = guild.createChannel({ name: 'news' });
    await host.settled();
    await setTopic(channel, 'what is new');
    guild.deleteChannel(channel);
    expect((await logged()).split('\n')).to.deep.equal([
      `➕ **#news** (${channel}) was created.`,
      `🔧 **#news** (${channel}): topic: what is new`,
      `➖ **#news** (${channel}) was deleted.`,
    ]);
  });

  it('leaves alone what is switched off, ignored, of bots, or in the log itself', async () => {
    const { alice, general, guild } = host;
    const quiet = guild.createChannel({ name: 'quiet' });
    await host.settled();
    await logged();
    await set(`ignored ${quiet}`);
    await set('edits no');
    const [one, two] = [alice.say(quiet, 'x'), alice.say(general, 'x')];
    await host.settled();
    alice.delete(one);
    alice.edit(two, 'y');
    const notice = log.messages.at(-1);
    if (notice !== undefined) host.you.delete(notice);
    expect(await logged()).to.equal('');
  });

  it('sends what comes together in one message, and counts what is too much', async () => {
    const { guild, discord } = host;
    host.discord.requests.reset();
    for (let n = 0; n < 120; n += 1) guild.createChannel({ name: `raid-${n}` });
    const text = await logged();
    expect(text).to.include('… and 20 more entries');
    expect(text.split('\n')).to.have.length(101);
    expect(discord.requests.of('POST', '/channels/:channelId/messages').length).to.be.at.most(5);
  });

  it('is set up in plain language, under the same rules', async () => {
    const call = async (user: LocalUser, name: string, input: object) => {
      const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
      const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
      if (outcome.status === 'done') return outcome.text;
      return outcome.status === 'failed' ? outcome.error.message : outcome.status;
    };
    const { alice, you, general, guild } = host;
    expect(await call(alice, 'set_log', { channel: 'general' })).not.to.include('→');
    expect(await call(you, 'set_log', { kind: 'edits', channel: 'general' })).to.equal(
      [
        `🟢 Edited messages → <#${general.id}>`,
        `🟢 Deleted messages → <#${general.id}>`,
        `🟢 Joins and leaves → <#${log.id}>`,
        `🟢 Roles and nicknames → <#${log.id}>`,
        `🟢 Channels → <#${log.id}>`,
        '⚪ Voice channels',
      ].join('\n'),
    );
    expect(await call(you, 'set_log', { kind: 'edits', on: false })).to.include('⚪ Edited messages\n');
    expect(await call(you, 'set_log', { kind: 'edits', channel: 'off', on: true })).to.include(
      `🟢 Edited messages → <#${log.id}>`,
    );
    expect(await call(you, 'set_log', { kind: 'edits' })).to.equal('Say where, or whether it is logged.');
    expect(await call(you, 'set_log', { channel: 'nowhere' })).to.include('There is no channel called **nowhere**');
    const closed = guild.createChannel({ name: 'closed' });
    guild.overwrite(closed, { for: host.bot, deny: ['SendMessages'] });
    await host.settled();
    expect(await call(you, 'set_log', { channel: 'closed' })).to.equal('I may not write in that channel.');
    expect(await call(you, 'view_log', {})).to.include(`🟢 Joins and leaves → <#${log.id}>`);
  });
});
