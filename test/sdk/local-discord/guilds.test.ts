import { expect } from 'chai';
import { ChannelType, type Client, Events, type Guild } from 'discord.js';
import { codeOf, handClock, type NightCity, next, nightCity, refusal } from './support.js';

describe('local Discord: guilds', () => {
  let city: NightCity;
  let client: Client<true>;
  let guild: Guild;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
    const found = client.guilds.cache.get(city.guild.id);
    if (!found) throw new Error('No guild.');
    guild = found;
  });
  afterEach(() => city.close());

  describe('members', () => {
    it('are listed, searched and fetched', async () => {
      const list = await guild.members.list({ limit: 10 });
      expect(list.map((member) => member.user.username)).to.have.members(['you', 'alice', 'Cinnabar']);
      expect((await guild.members.search({ query: 'ali', limit: 5 })).map(({ id }) => id)).to.deep.equal([
        city.alice.id,
      ]);
      expect((await guild.members.fetch(city.alice.id)).displayName).to.equal('alice');
      await refusal(guild.members.fetch({ user: '1', force: true }), 10007);
    });

    it('come and go with events', async () => {
      const joined = next(client, Events.GuildMemberAdd);
      const bob = city.discord.createUser({ name: 'bob', displayName: 'Bob' });
      city.guild.join(bob);
      expect((await joined)[0].displayName).to.equal('Bob');
      const left = next(client, Events.GuildMemberRemove);
      city.guild.remove(bob);
      expect((await left)[0].id).to.equal(bob.id);
    });

    it('are renamed, given roles and timed out', async () => {
      const { alice } = city;
      const role = city.guild.createRole({ name: 'Solo', position: 1 });
      city.guild.editRole(city.guild.roles.get(guild.members.me?.roles.botRole?.id ?? '') ?? role, { position: 5 });
      await city.discord.settled();
      const member = await guild.members.fetch(alice.id);
      await member.setNickname('Al');
      await member.roles.add(role.id);
      const stored = city.guild.memberOf(alice);
      expect([stored.nick, [...stored.roles].map(({ name }) => name)]).to.deep.equal(['Al', ['Solo']]);
      await member.roles.set([]);
      expect(stored.roles.size).to.equal(0);
      await guild.members.edit(alice.id, { communicationDisabledUntil: clock.now() + 60_000 });
      expect(codeOf(() => alice.say(city.general, 'x'))).to.equal(50013);
      await refusal(guild.members.edit(alice.id, { communicationDisabledUntil: clock.now() + 29 * 86_400_000 }), 50035);
    });

    it('above the bot are out of its reach', async () => {
      const boss = city.guild.createRole({ name: 'Boss', position: 10 });
      city.guild.giveRole(city.alice, boss);
      await refusal(guild.members.kick(city.alice.id), 50013);
      await refusal(guild.members.edit(city.you.id, { nick: 'x' }), 50013);
      await refusal(guild.members.addRole({ user: city.you.id, role: boss.id }), 50013);
    });

    it('are kicked and banned, and let in again', async () => {
      const { alice } = city;
      alice.say(city.general, 'spam');
      const banned = next(client, Events.GuildBanAdd);
      await guild.members.ban(alice.id, { reason: 'spam', deleteMessageSeconds: 60 });
      expect((await banned)[0].user.id).to.equal(alice.id);
      expect(city.guild.members.has(alice.id)).to.be.false;
      expect(city.general.messages).to.be.empty;
      expect((await guild.bans.fetch(alice.id)).reason).to.equal('spam');
      await guild.members.unban(alice.id);
      await refusal(guild.bans.fetch(alice.id), 10026);
      city.guild.join(alice);
      await guild.members.kick(alice.id);
      expect(codeOf(() => alice.say(city.general, 'x'))).to.equal(50001);
    });
  });

  describe('roles', () => {
    it('are created, edited and deleted within what the bot itself may do', async () => {
      const created = next(client, Events.GuildRoleCreate);
      const role = await guild.roles.create({
        name: 'Solo',
        permissions: ['SendMessages'],
        colors: { primaryColor: 0xff0000 },
      });
      expect((await created)[0].id).to.equal(role.id);
      expect(city.guild.roles.get(role.id)).to.include({ name: 'Solo', color: 0xff0000 });
      await role.setPosition(1).catch(() => undefined);
      await refusal(guild.roles.create({ name: 'God', permissions: ['Administrator'] }), 50013);
      const deleted = next(client, Events.GuildRoleDelete);
      city.guild.deleteRole(city.guild.roles.get(role.id) ?? city.guild.everyone);
      expect((await deleted)[0].id).to.equal(role.id);
      await refusal(guild.roles.delete(role.id), 10011);
    });
  });

  describe('channels', () => {
    it('of all kinds are made, changed and deleted', async () => {
      const category = await guild.channels.create({ name: 'Cat', type: ChannelType.GuildCategory });
      const text = await guild.channels.create({
        name: 'text',
        parent: category.id,
        topic: 'about',
        rateLimitPerUser: 5,
      });
      await guild.channels.create({ name: 'voice', type: ChannelType.GuildVoice });
      await guild.channels.create({ name: 'news', type: ChannelType.GuildAnnouncement });
      await guild.channels.create({ name: 'forum', type: ChannelType.GuildForum, availableTags: [{ name: 'help' }] });
      expect(text).to.include({ topic: 'about', rateLimitPerUser: 5, parentId: category.id });
      expect((await guild.channels.fetch()).size).to.equal(6);

      const updated = next(client, Events.ChannelUpdate);
      await text.edit({ name: 'renamed', topic: null });
      expect((await updated)[1]).to.include({ name: 'renamed', topic: null });
      const deleted = next(client, Events.ChannelDelete);
      await text.delete();
      expect((await deleted)[0].id).to.equal(text.id);
      await refusal(client.channels.fetch(text.id, { force: true }), 10003);
      await refusal(client.rest.post(`/channels/${category.id}/messages`, { body: { content: 'x' } }), 50008);
    });

    it('let as many join a call as they say', async () => {
      const voice = await guild.channels.create({ name: 'calls', type: ChannelType.GuildVoice, userLimit: 5 });
      expect(voice.userLimit).to.equal(5);
      expect((await voice.setUserLimit(7)).userLimit).to.equal(7);
    });

    it('keep the tags of a forum that are named again', async () => {
      const availableTags = [{ name: 'help' }, { name: 'idea' }];
      const forum = await guild.channels.create({ name: 'forum', type: ChannelType.GuildForum, availableTags });
      const [help] = forum.availableTags;
      const edited = await forum.setAvailableTags([{ ...help, name: 'Help' }, { name: 'new' }]);
      expect(edited.availableTags.map(({ name }) => name)).to.deep.equal(['Help', 'new']);
      expect(edited.availableTags[0]?.id).to.equal(help?.id);
    });

    it('are announced when they appear', async () => {
      const created = next(client, Events.ChannelCreate);
      city.guild.createChannel({ name: 'new' });
      expect((await created)[0].name).to.equal('new');
    });
  });
});
