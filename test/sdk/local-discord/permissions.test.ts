import { expect } from 'chai';
import { type Client, PermissionFlagsBits } from 'discord.js';
import { codeOf, handClock, type NightCity, nightCity, refusal, textChannel } from './support.js';

describe('local Discord: permissions', () => {
  let city: NightCity;
  let client: Client<true>;
  const clock = handClock();
  beforeEach(async () => {
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  const send = (content: string) => client.rest.post(`/channels/${city.general.id}/messages`, { body: { content } });

  it('of roles are granted and denied by overwrites: everyone, then roles, then the member', () => {
    const { alice, general, guild } = city;
    const role = guild.createRole({ name: 'Solo' });
    guild.giveRole(alice, role);
    const maySend = () => codeOf(() => alice.say(general, 'x')) === 'no error';

    guild.overwrite(general, { for: guild.everyone, deny: ['SendMessages'] });
    expect(maySend()).to.be.false;
    guild.overwrite(general, { for: role, allow: ['SendMessages'] });
    expect(maySend()).to.be.true;
    guild.overwrite(general, { for: alice, deny: ['SendMessages'] });
    expect(maySend()).to.be.false;
    guild.takeRole(alice, role);
    guild.giveRole(alice, guild.createRole({ name: 'Admin', permissions: ['Administrator'] }));
    expect(maySend()).to.be.true;
  });

  it('missing are 50013, and a hidden channel is 50001', async () => {
    const { app, general, guild } = city;
    guild.overwrite(general, { for: app.user, deny: ['SendMessages'] });
    await refusal(send('x'), 50013);
    guild.overwrite(general, { for: app.user, deny: ['ViewChannel'] });
    await refusal(send('x'), 50001);
    await refusal(client.rest.get(`/channels/${general.id}`), 50001);
    await refusal(client.rest.get('/channels/1'), 10003);
    await refusal(client.rest.get('/guilds/1'), 10004);
  });

  it('are asked for by each kind of content', async () => {
    const { alice, app, general, guild } = city;
    const channel = textChannel(client, general.id);
    guild.overwrite(general, {
      for: app.user,
      deny: ['EmbedLinks', 'AttachFiles', 'AddReactions', 'ManageMessages', 'ReadMessageHistory'],
    });
    await refusal(channel.send({ embeds: [{ title: 'x' }] }), 50013);
    await refusal(channel.send({ files: [Buffer.from('x')] }), 50013);
    const said = alice.say(general, 'x');
    await refusal(channel.messages.react(said.id, '👍'), 50013);
    await refusal(channel.messages.delete(said.id), 50013);
    await refusal(channel.send({ content: 'x', reply: { messageReference: said.id } }), 160002);
    expect((await channel.messages.fetch({ limit: 5 })).size).to.equal(0);
  });

  it('to delete the reaction of another need ManageMessages, but joining a reaction needs nothing', async () => {
    const { alice, app, general, guild, you } = city;
    guild.overwrite(general, { for: app.user, deny: ['ManageMessages', 'AddReactions'] });
    const said = you.say(general, 'x');
    alice.react(said, '👍');
    const message = await textChannel(client, general.id).messages.fetch(said.id);
    await message.react('👍');
    await refusal(Promise.resolve(message.reactions.resolve('👍')?.users.remove(alice.id)), 50013);
    expect(codeOf(() => alice.unreact(said, '👍', app.user))).to.equal(50013);
    alice.unreact(said, '👍');
    expect(said.reactedBy('👍')).to.deep.equal([app.user]);
  });

  it('end for a member in a time-out, and come back after it', () => {
    const { alice, general, guild } = city;
    guild.memberOf(alice).timedOutUntil = clock.now() + 60_000;
    expect(codeOf(() => alice.say(general, 'x'))).to.equal(50013);
    expect(alice.read(general)).to.be.empty;
    clock.advance(60_001);
    alice.say(general, 'x');
  });

  it('of a category are those of its new channels', async () => {
    const { alice, guild } = city;
    const category = guild.createChannel({
      name: 'Staff',
      type: 'category',
      overwrites: [{ for: guild.everyone, deny: ['ViewChannel'] }],
    });
    const staff = guild.createChannel({ name: 'staff', parent: category });
    expect(codeOf(() => alice.say(staff, 'x'))).to.equal(50001);
    const overwrite = client.guilds.cache.get(guild.id)?.channels.cache.get(category.id);
    expect(overwrite).to.equal(undefined);
  });

  it('that a bot edits take effect at once', async () => {
    const { alice, general, guild } = city;
    const channel = client.guilds.cache.get(guild.id)?.channels.cache.get(general.id);
    if (!channel || channel.isThread()) throw new Error('No channel.');
    await channel.permissionOverwrites.edit(alice.id, { SendMessages: false }, { reason: 'spam' });
    expect(codeOf(() => alice.say(general, 'x'))).to.equal(50013);
    expect(city.discord.requests.all.at(-1)?.reason).to.equal('spam');
    expect(channel.permissionsFor(alice.id)?.has(PermissionFlagsBits.SendMessages)).to.be.false;
    await channel.permissionOverwrites.delete(alice.id);
    alice.say(general, 'x');
    await refusal(client.rest.delete(`/channels/${general.id}/permissions/${alice.id}`), 10009);
  });
});
