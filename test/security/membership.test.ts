import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { Access, type Actor, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';

/** No bundled plugin requests the intent GuildMembers, so Discord sends the bot neither removed roles nor members who left. */
describe('security: what is read must be the asker’s to read now', () => {
  let host: TestHost;
  let staff: LocalChannel;
  let council: LocalChannel;
  before(async () => {
    host = await createTestHost({ plugins: ['discord-tools'] });
    const { guild, general, bob, you } = host;
    staff = guild.createChannel({ name: 'staff', overwrites: [{ for: guild.everyone, deny: ['ViewChannel'] }] });
    guild.overwrite(staff, { for: host.bot, allow: ['ViewChannel', 'ReadMessageHistory'] });
    council = bob.startThread(general, 'council', { private: true });
    await host.settled();
    you.say(staff, 'the zebra plan is off');
    bob.say(council, 'a zebra in the council');
    bob.say(general, 'a zebra for all');
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());

  const actor = (user: LocalUser, from: 'guild' | 'dm'): Actor =>
    from === 'guild'
      ? { userId: user.id, guildId: host.guild.id, channelId: host.general.id }
      : { userId: user.id, guildId: null, channelId: user.openDm(host.application).id };
  const ask = async (user: LocalUser, name: string, input: object, from: 'guild' | 'dm' = 'dm') => {
    const outcome = await host
      .resolve(Tools)
      .invoke({ name, arguments: input, actor: actor(user, from), origin: 'test' });
    return outcome.status === 'done' ? outcome.text : outcome.status;
  };
  const search = (user: LocalUser, from?: 'guild' | 'dm') =>
    ask(user, 'discord_search_messages', { guildId: host.guild.id, content: 'zebra' }, from);
  const know = async (user: LocalUser) => {
    user.say(host.general, 'hello, so that the bot has seen me');
    await host.settled();
  };

  it('a role that was taken away opens nothing any more, in the guild and from a direct message', async () => {
    const { guild, alice } = host;
    const role = guild.createRole({ name: 'Staff' });
    guild.overwrite(staff, { for: role, allow: ['ViewChannel', 'ReadMessageHistory'] });
    guild.giveRole(alice, role);
    await know(alice);
    expect(await search(alice)).to.contain('the zebra plan is off');

    guild.takeRole(alice, role);
    for (const from of ['dm', 'guild'] as const) {
      const found = await search(alice, from);
      expect(found).to.contain('a zebra for all');
      expect(found).to.not.contain('plan is off');
      expect(await ask(alice, 'discord_get_server_info', { guildId: guild.id }, from)).to.not.contain('staff');
    }
  });

  it('a member who was kicked reads and lists nothing', async () => {
    const { guild, discord } = host;
    const mallory = discord.createUser({ name: 'mallory' });
    guild.join(mallory);
    await know(mallory);
    expect(await search(mallory)).to.contain('a zebra for all');
    expect(await ask(mallory, 'discord_list_servers', {})).to.contain(guild.name);

    guild.remove(mallory);
    expect(await search(mallory)).to.equal('failed');
    expect(await ask(mallory, 'discord_list_servers', {})).to.not.contain(guild.name);
    expect(await ask(mallory, 'discord_get_server_info', { guildId: guild.id })).to.equal('failed');
  });

  it('a member who was removed from a private thread can no longer search or list it', async () => {
    const { discord, guild, general } = host;
    const carol = discord.createUser({ name: 'carol' });
    guild.join(carol);
    council.thread?.members.set(carol.id, discord.clock.now());
    await know(carol);
    expect(await search(carol)).to.contain('a zebra in the council');

    council.thread?.members.delete(carol.id);
    expect(await search(carol)).to.not.contain('council');
    expect(await ask(carol, 'discord_list_threads', { channelId: general.id })).to.not.contain('council');
  });

  it('asks Discord once per call, not once per channel', async () => {
    const { guild, alice, discord } = host;
    for (let i = 0; i < 5; i += 1) guild.createChannel({ name: `more-${i}` });
    await host.settled();
    const count = () => discord.requests.of('GET', '/guilds/:guildId/members/:userId').length;
    const before = count();
    await search(alice, 'dm');
    expect(count() - before).to.equal(1);
  });

  it('access to the entries of a list is decided in the same way, within the scope of the request', async () => {
    const { guild, alice } = host;
    const access = host.resolve(Access);
    const at = { guildId: guild.id, channelId: staff.id };
    expect(await access.mayEnter(actor(alice, 'guild'), at)).to.equal(false);
    const place = { guildId: guild.id, channelId: council.id };
    expect(await access.mayEnter(actor(alice, 'guild'), place)).to.equal(false);
    expect(await access.mayEnter(actor(host.bob, 'guild'), place, ['ReadMessageHistory'])).to.equal(true);
    expect(await access.mayEnter({ userId: host.bob.id, guildId: '1', channelId: '2' }, place)).to.equal(false);
    const dm = alice.openDm(host.application);
    const ofDm = { guildId: null, channelId: dm.id };
    expect(await access.mayEnter(actor(alice, 'dm'), ofDm)).to.equal(true);
    expect(await access.mayEnter(actor(alice, 'guild'), ofDm)).to.equal(false);
    expect(await access.mayEnter({ ...actor(alice, 'dm'), userId: host.bob.id }, ofDm)).to.equal(false);
  });
});
