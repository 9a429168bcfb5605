import { createManualClock } from '@cinnabar/core/testing';
import type { AccessPolicy, AccessRequest, AccessRule } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openHarness } from './harness.js';

const subject = (policy: AccessPolicy = {}): AccessRequest => ({ kind: 'tool', name: 'raid', plugin: 'raid', policy });

describe('access on a real client', () => {
  it("knows the tiers of a guild: its owner, admins and moderators by permission or role, and the bot's owner", async () => {
    await using harness = await openHarness({ owners: ['4711'] });
    const { access, actor, guild, you, alice, bob, states, discord } = harness;
    expect(await access.tierOf(actor(you))).to.equal('guildOwner');
    expect(await access.tierOf(actor(alice))).to.equal('everyone');
    guild.giveRole(alice, guild.createRole({ name: 'boss', permissions: ['ManageGuild'] }));
    const trusted = guild.createRole({ name: 'trusted' });
    guild.giveRole(bob, trusted);
    await discord.settled();
    expect(await access.tierOf(actor(alice))).to.equal('admin');
    expect(await access.tierOf(actor(bob))).to.equal('everyone');
    await states.update(guild.id, (draft) => ({ ...draft, modRoles: [trusted.id] }));
    expect(await access.tierOf(actor(bob))).to.equal('mod');
    expect([access.isOwner('4711'), access.isOwner(you.id)]).to.deep.equal([true, false]);
  });

  it("takes the application's owner, or its team, for the bot's owner unless some are configured", async () => {
    await using alone = await openHarness();
    expect(await alone.access.owners()).to.deep.equal([alone.you.id]);
    expect([alone.you, alone.alice].map(({ id }) => alone.access.isOwner(id))).to.deep.equal([true, false]);
    await using crew = await openHarness({ team: true });
    expect(await crew.access.tierOf(crew.actor(crew.alice))).to.equal('botOwner');
    expect([crew.you, crew.alice, crew.bob].map(({ id }) => crew.access.isOwner(id))).to.deep.equal([
      true,
      true,
      false,
    ]);
  });

  it('removes the ownership of a member who has left the team within an hour', async () => {
    const clock = createManualClock();
    await using crew = await openHarness({ team: true, clock });
    const { access, actor, alice, you, application, discord } = crew;
    expect(await access.tierOf(actor(alice))).to.equal('botOwner');
    Object.assign(application.team ?? {}, { members: [you] });
    clock.advance(61 * 60_000);
    discord.faults.rest.fail(500, { route: '/applications/@me', times: 10 });
    await access.tierOf(actor(alice));
    await discord.settled();
    expect(await access.tierOf(actor(alice))).to.equal('botOwner');
    discord.faults.rest.clear();
    clock.advance(61 * 60_000);
    await access.tierOf(actor(alice));
    await discord.settled();
    expect(await access.tierOf(actor(alice))).to.equal('everyone');
    expect(await access.tierOf(actor(you))).to.equal('botOwner');
  });

  it('has no owner while Discord cannot be asked, and does not ask at every decision', async () => {
    await using harness = await openHarness();
    const { access, you, discord, actor, log } = harness;
    discord.faults.rest.fail(500, { route: '/applications/@me', times: 10 });
    expect(await access.owners()).to.deep.equal([]);
    expect(await access.tierOf(actor(you))).to.equal('guildOwner');
    expect(log.entries.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('computes permissions in the channel, overwrites included, and a thread by its parent', async () => {
    await using harness = await openHarness();
    const { access, actor, guild, general, alice, application, discord } = harness;
    const pinning = subject({ member: ['ManageMessages'] });
    const sending = subject({ bot: ['AttachFiles'] });
    expect((await access.decide(actor(alice), pinning)).allowed).to.equal(false);
    guild.overwrite(general, { for: alice, allow: ['ManageMessages'] });
    guild.overwrite(general, { for: application.user, deny: ['AttachFiles'] });
    const thread = alice.startThread(general, 'aside');
    await discord.settled();
    for (const channel of [general, thread]) {
      expect((await access.decide(actor(alice, channel.id), pinning)).allowed).to.equal(true);
      expect((await access.decide(actor(alice, channel.id), sending)).allowed).to.equal(false);
    }
  });

  it('refuses, with the reason, missing members and missing objects', async () => {
    await using harness = await openHarness();
    const { access, actor, guild, alice, bob, application, discord } = harness;
    const doomed = guild.createChannel({ name: 'doomed' });
    const hidden = guild.createChannel({
      name: 'hidden',
      overwrites: [{ for: bob, deny: ['ViewChannel'] }],
    });
    guild.remove(alice);
    guild.deleteChannel(doomed);
    await discord.settled();
    const whyNot = async (who: Parameters<typeof access.decide>[0]) => {
      const { allowed, reasons } = await access.decideFresh(who, subject());
      expect(allowed).to.equal(false);
      return reasons.map(({ text }) => text);
    };
    expect(await whyNot(actor(alice))).to.deep.equal(['you are no longer in this server']);
    expect(await whyNot(actor(bob, doomed.id))).to.deep.equal(['that channel no longer exists']);
    expect(await whyNot(actor(bob, hidden.id))).to.deep.equal(['you can no longer see this channel']);
    expect(await whyNot(actor(application.user))).to.deep.equal(['bots cannot use this']);
    expect(await whyNot({ ...actor(bob), guildId: '1' })).to.deep.equal(['I am no longer in that server']);
  });

  it('does not take a channel of a guild for a direct message or for one of another guild', async () => {
    await using harness = await openHarness();
    const { access, actor, alice, application, discord } = harness;
    const evil = discord.createGuild({ name: 'Elsewhere', owner: alice });
    evil.invite(application);
    const far = evil.createChannel({ name: 'far' });
    await discord.settled();
    const passedOff = await access.decide({ ...actor(alice), guildId: null }, subject());
    const elsewhere = await access.decide({ ...actor(alice), channelId: far.id }, subject());
    expect(passedOff.reasons[0]?.text).to.equal('that channel is not a direct message');
    expect(elsewhere.reasons[0]?.text).to.equal('that channel is not in this server');
  });

  it('takes everyone for an ordinary member in a direct message, but the bot owner', async () => {
    await using harness = await openHarness();
    const { access, you, alice, application } = harness;
    const directly = (person: typeof you) => ({
      userId: person.id,
      guildId: null,
      channelId: person.openDm(application).id,
    });
    expect(await access.tierOf(directly(alice))).to.equal('everyone');
    expect(await access.tierOf(directly(you))).to.equal('botOwner');
    expect((await access.decide(directly(alice), subject({ bot: ['AddReactions'] }))).allowed).to.equal(true);
    expect((await access.decide(directly(alice), subject({ bot: ['BanMembers'] }))).allowed).to.equal(false);
  });

  it('allows a member in time-out only to read', async () => {
    await using harness = await openHarness();
    const { access, actor, guild, alice, client, discord } = harness;
    guild.giveRole(alice, guild.createRole({ name: 'mod', permissions: ['KickMembers'] }));
    guild.giveRole(harness.application.user, guild.createRole({ name: 'jailer', permissions: ['ModerateMembers'] }));
    await discord.settled();
    expect(await access.tierOf(actor(alice))).to.equal('mod');
    const member = await client.guilds.cache.get(guild.id)?.members.fetch(alice.id);
    await member?.timeout(60_000);
    await discord.settled();
    expect(await access.tierOf(actor(alice))).to.equal('everyone');
    expect((await access.decide(actor(alice), subject({ member: ['SendMessages'] }))).allowed).to.equal(false);
    expect(await access.mayEnter(actor(alice), actor(alice), ['ReadMessageHistory'])).to.equal(true);
    expect(await access.mayEnter(actor(alice), actor(alice), ['SendMessages'])).to.equal(false);
  });

  it('asks in a thread for the permission to send in threads', async () => {
    await using harness = await openHarness();
    const { access, actor, guild, general, alice, discord } = harness;
    const thread = alice.startThread(general, 'aside');
    guild.overwrite(general, { for: alice, allow: ['SendMessages'], deny: ['SendMessagesInThreads'] });
    await discord.settled();
    expect(await access.mayEnter(actor(alice), actor(alice), ['SendMessages'])).to.equal(true);
    expect(await access.mayEnter(actor(alice), actor(alice, thread.id), ['SendMessages'])).to.equal(false);
  });

  it('without the members intent asks Discord again at execution, so that a lost role counts', async () => {
    await using harness = await openHarness({ intents: ['Guilds', 'GuildMessages'] });
    const { access, actor, guild, general, alice, discord } = harness;
    const admins = guild.createRole({ name: 'admins', permissions: ['ManageGuild'] });
    guild.giveRole(alice, admins);
    alice.say(general, 'hello');
    await discord.settled();
    const forAdmins = subject({ tier: 'admin' });
    expect((await access.decide(actor(alice), forAdmins)).allowed).to.equal(true);
    guild.takeRole(alice, admins);
    await discord.settled();
    expect((await access.decideFresh(actor(alice), forAdmins)).allowed).to.equal(false);
    guild.remove(alice);
    await discord.settled();
    expect((await access.decideFresh(actor(alice), subject())).reasons[0]?.text).to.equal(
      'you are no longer in this server',
    );
  });

  it('follows the rules of the server, in a thread those of its channel, elsewhere those of the other server', async () => {
    await using harness = await openHarness();
    const { access, actor, you, alice, guild, general, states } = harness;
    const deny = (kind: 'channel' | 'user', id: string): AccessRule => ({
      effect: 'deny',
      target: { kind: 'plugin', name: 'raid' },
      subject: { kind, id },
    });
    await states.update(guild.id, (draft) => ({ ...draft, accessRules: [deny('channel', general.id)] }));
    const refused = await access.decide(actor(alice), subject());
    expect(refused.allowed).to.equal(false);
    expect(refused.reasons.at(-2)).to.deep.equal({
      rule: 'access-rule',
      allowed: false,
      text: `a rule of this server denies the plugin \`raid\` in <#${general.id}>`,
      remedy: `An admin takes the rule back with \`access clear plugin:raid <#${general.id}>\`.`,
    });
    const thread = alice.startThread(general, 'loot');
    await harness.discord.settled();
    expect((await access.decide({ ...actor(alice), channelId: thread.id }, subject())).allowed).to.equal(false);
    await states.update(guild.id, (draft) => ({ ...draft, accessRules: [deny('user', alice.id)] }));
    expect((await access.decide(actor(alice), subject())).allowed).to.equal(false);
    expect((await access.decide(actor(you), subject())).allowed).to.equal(true);
  });

  it('refuses when Discord does not answer', async () => {
    await using harness = await openHarness({ intents: ['Guilds'] });
    const { access, actor, alice, discord } = harness;
    discord.faults.rest.fail(500, { route: /members/, times: 20 });
    const decision = await access.decideFresh(actor(alice), subject());
    expect(decision).to.deep.include({ allowed: false });
    expect(decision.reasons[0]?.text).to.equal('it could not be checked whether you may');
  });
});
