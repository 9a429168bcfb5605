import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import {
  type Actor,
  Identities,
  Ledger,
  type Outcome,
  PersonalDataStore,
  Provenance,
  type SettledOutcome,
  ToolHistory,
  Tools,
} from '@cinnabar/sdk';
import { expect } from 'chai';
import { PermissionsBitField } from 'discord.js';

const SECRET = 'the zebra plan is off';

/** The result of a tool may be shown only to those who may read its source, while the source exists. */
describe('security: what came from where', () => {
  let host: TestHost;
  let staff: LocalChannel;
  let secret: LocalMessage;
  before(async () => {
    host = await createTestHost({ plugins: ['discord-tools', 'confirm', 'mcp'] });
    const { guild, you, alice } = host;
    const role = guild.createRole({ name: 'Staff' });
    staff = guild.createChannel({
      name: 'staff',
      overwrites: [
        { for: guild.everyone, deny: ['ViewChannel'] },
        { for: role, allow: ['ViewChannel', 'ReadMessageHistory'] },
        { for: host.bot, allow: ['ViewChannel', 'ReadMessageHistory'] },
      ],
    });
    guild.giveRole(alice, role);
    await host.settled();
    secret = you.say(staff, SECRET);
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());

  const actorOf = (user: LocalUser, channel: LocalChannel): Actor => ({
    userId: user.id,
    guildId: channel.guild?.id ?? null,
    channelId: channel.id,
  });
  const asked = async (user: LocalUser, name: string, input: object, channel = host.general): Promise<Outcome> => {
    const outcome = await host
      .resolve(Tools)
      .invoke({ name, arguments: input, actor: actorOf(user, channel), origin: 'test' });
    await host.settled();
    return outcome;
  };
  const cardIn = (channel: LocalChannel) =>
    channel.messages.findLast(({ content }) => content.includes('Confirmation Required'));
  /** Sends a request, and decides on its card. */
  const decided = async (
    user: LocalUser,
    name: string,
    input: object,
    decide: (card: LocalMessage) => unknown,
    channel = host.general,
  ): Promise<SettledOutcome> => {
    const outcome = await asked(user, name, input, channel);
    const card = cardIn(channel);
    if (outcome.status !== 'deferred' || card === undefined) throw new Error(`not held: ${JSON.stringify(outcome)}`);
    decide(card);
    await host.settled();
    return outcome.settled;
  };
  const thumb = (user: LocalUser) => (card: LocalMessage) => user.react(card, '👍');
  const saidIn = (channel: LocalChannel) =>
    channel.messages.filter(({ author }) => author.id === host.bot.id).map(({ content }) => content);
  const read = () => ({ channelId: staff.id });

  it('a card says where the result goes, and by default a private result goes only to the requesting member', async () => {
    const { alice, general, application } = host;
    const outcome = await decided(alice, 'discord_read_messages', read(), thumb(alice));
    expect(cardIn(general)?.content).to.contain('the result goes to you alone').and.to.contain('Post it here');
    expect(outcome).to.include({ status: 'done', audience: 'requester' });
    expect(saidIn(general).join('\n')).to.not.contain(SECRET);
    expect(saidIn(general).at(-1)).to.contain('in your direct messages');
    expect(saidIn(alice.openDm(application)).join('\n')).to.contain(SECRET);
  });

  it('it is posted there when who asked chooses that on the card', async () => {
    const { alice, general } = host;
    const outcome = await decided(alice, 'discord_read_message', { ...read(), messageId: secret.id }, (card) =>
      alice.click(card, 'Post it here'),
    );
    expect(outcome).to.not.have.property('audience');
    expect(saidIn(general).at(-1)).to.contain(SECRET);
  });

  it('a result that everyone there may read is posted there, and the card says so', async () => {
    const { alice, bob, general } = host;
    bob.say(general, 'good morning, all');
    const outcome = await decided(alice, 'discord_read_messages', { channelId: general.id, limit: 3 }, thumb(alice));
    expect(cardIn(general)?.content).to.contain('The result is posted in this channel');
    expect(outcome).to.not.have.property('audience');
    expect(saidIn(general).at(-1)).to.contain('good morning, all');
  });

  it('a search that found something private goes to who asked alone; one that did not is posted', async () => {
    const { alice, bob, general, guild } = host;
    const hidden = await decided(
      alice,
      'discord_search_messages',
      { guildId: guild.id, content: 'zebra plan' },
      thumb(alice),
    );
    expect(hidden).to.include({ audience: 'requester' });
    bob.say(general, 'a giraffe');
    const open = await decided(
      alice,
      'discord_search_messages',
      { guildId: guild.id, content: 'giraffe' },
      thumb(alice),
    );
    expect(open).to.not.have.property('audience');
  });

  it('a member who accepts no direct messages gets no answer, instead of a public one', async () => {
    const { alice, general } = host;
    alice.dmsClosed = true;
    await decided(alice, 'discord_read_messages', read(), thumb(alice));
    alice.dmsClosed = false;
    expect(saidIn(general).at(-1)).to.contain('you accept no direct messages from me');
  });

  it('a result is only for members who may read its sources now, and only as long as its messages exist', async () => {
    const { alice, bob, you, guild, general } = host;
    const message = you.say(staff, 'a lion, for a moment');
    await host.settled();
    const outcome = await decided(
      you,
      'discord_read_message',
      { channelId: staff.id, messageId: message.id },
      thumb(you),
    );
    if (outcome.status !== 'done') throw new Error('not done');
    const { sources } = outcome;
    const userIds = [you.id];
    expect(sources).to.deep.include({ guildId: guild.id, channelId: staff.id, messageIds: [message.id], userIds });
    const provenance = host.resolve(Provenance);
    expect(await provenance.mayShow(sources, [actorOf(you, general), actorOf(alice, general)])).to.equal(true);
    expect(await provenance.mayShow(sources, [actorOf(alice, general), actorOf(bob, general)])).to.equal(false);
    expect(await provenance.mayHave(sources, bob.id)).to.equal(false);
    expect(provenance.mayTell(sources, actorOf(alice, staff))).to.equal(true);
    expect(provenance.mayTell(sources, actorOf(alice, general))).to.equal(false);

    // Stored with the ledger's row and with the history of tools, which provide it to later turns.
    expect((await host.resolve(Ledger).get(outcome.callId))?.sources).to.deep.equal(sources);
    const kept = await host.resolve(ToolHistory).recent(general.id);
    expect(kept.find(({ call }) => call.id === outcome.callId)?.result.sources).to.deep.equal(sources);

    you.delete(message);
    await host.settled();
    expect(await provenance.mayShow(sources, [actorOf(you, general)])).to.equal(false);
    expect(await provenance.mayShow(undefined, [actorOf(you, general)])).to.equal(false);
  });

  it('what a thread says is told in its channel only if all who see the channel may read earlier messages', async () => {
    const { alice, guild, general } = host;
    const thread = alice.startThread(general, 'aside');
    await host.settled();
    const source = [{ guildId: guild.id, channelId: thread.id }];
    const isTold = () => host.resolve(Provenance).mayTell(source, actorOf(alice, general));
    expect(isTold()).to.equal(true);
    const { permissions } = guild.everyone;
    const names = new PermissionsBitField(permissions).toArray();
    guild.editRole(guild.everyone, { permissions: names.filter((name) => name !== 'ReadMessageHistory') });
    await host.settled();
    expect(isTold()).to.equal(false);
    guild.editRole(guild.everyone, { permissions: names });
    await host.settled();
    expect(isTold()).to.equal(true);
  });

  it('an export has no arguments that were written where the member may not read any more', async () => {
    const { alice, guild } = host;
    const exported = async () => JSON.stringify(await host.resolve(PersonalDataStore).export(alice.id));
    const input = { guildId: guild.id, content: 'heard among the staff' };
    await decided(alice, 'discord_search_messages', input, (card) => alice.react(card, '👍'), staff);
    expect(await exported()).to.contain(input.content);
    const [role] = guild.memberOf(alice).roles;
    if (role === undefined) throw new Error('alice has no role');
    guild.takeRole(alice, role);
    await host.advance(10_000);
    expect(await exported())
      .to.contain('discord_search_messages')
      .and.not.contain(input.content);
    guild.giveRole(alice, role);
    await host.advance(10_000);
  });

  it('an export has no arguments that an agent wrote with the member’s rights', async () => {
    const { alice, guild, general } = host;
    const identity = 'test:aurora';
    const tools = { discord_search_messages: 'allow' } as const;
    const grant = { guildId: guild.id, channelId: general.id, userId: alice.id, channels: 'all', tools } as const;
    await host.resolve(Identities).save({ id: identity, plugin: 'discord-tools', name: 'aurora', grants: [grant] });
    const input = { guildId: guild.id, content: 'heard by the agent' };
    const actor = { ...actorOf(alice, general), identity };
    const { status } = await host
      .resolve(Tools)
      .invoke({ name: 'discord_search_messages', arguments: input, actor, origin: 'test' });
    await host.settled();
    expect(status).to.equal('done');
    expect(JSON.stringify(await host.resolve(PersonalDataStore).export(alice.id)))
      .to.contain(identity)
      .and.not.contain(input.content);
  });

  it('with several who are answered together, the narrowest rights count, for places as for tools', async () => {
    const { alice, bob, guild, general } = host;
    const tools = host.resolve(Tools);
    const request = { actor: actorOf(alice, general), alongside: [actorOf(bob, general)], origin: 'test' };
    const direct = await tools.invoke({ ...request, name: 'discord_read_messages', arguments: read() });
    expect(direct.status).to.equal('denied');
    const outcome = await tools.invoke({
      ...request,
      name: 'discord_search_messages',
      arguments: { guildId: guild.id, content: 'zebra plan' },
    });
    await host.settled();
    const card = cardIn(general);
    if (outcome.status !== 'deferred' || card === undefined) throw new Error('not held');
    alice.react(card, '👍');
    await host.settled();
    const settled = await outcome.settled;
    expect(settled.status).to.equal('failed');
    expect(JSON.stringify(settled)).to.contain('not everyone who gets the answer may see').and.not.contain(SECRET);
  });
});
