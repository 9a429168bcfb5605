import { PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

const DAY_S = 24 * 60 * 60;

describe('discord-tools: members', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness();
  });
  after(() => harness[Symbol.asyncDispose]());

  const on = (input: object) => ({ guildId: harness.guild.id, ...input });

  it('lists and shows them', async () => {
    const { alice, bob, mod } = harness;
    const all = await harness.done(alice, 'discord_list_members', on({}));
    for (const { username, id } of [alice, bob, mod])
      expect(all).to.contain(`**${username}** (user ${id}, @**${username}**)`);
    expect(all).to.contain('roles **Moderators**');
    const page = await harness.done(alice, 'discord_list_members', on({ limit: 2 }));
    const next = /after (\d+)/.exec(page)?.[1];
    expect(await harness.done(alice, 'discord_list_members', on({ limit: 100, after: next }))).to.not.contain(
      `user ${next}`,
    );
    expect(await harness.done(bob, 'discord_get_member', on({ userId: `<@${mod.id}>` }))).to.contain('Moderators');
    expect(await harness.refused(bob, 'discord_get_member', on({ userId: harness.stranger.id }))).to.contain(
      'no member',
    );
  });

  it('does not let a name imitate text about another person', async () => {
    const { alice, guild, host } = harness;
    const forger = host.discord.createUser({ name: 'forger' });
    guild.join(forger, { nick: 'ann** (user 1, @ann) · roles X' });
    await host.settled();
    const text = await harness.done(alice, 'discord_get_member', on({ userId: forger.id }));
    const [, name, facts] = /^\*\*((?:\\.|[^*\\])*)\*\*(.*)$/.exec(text) ?? [];
    expect(name).to.contain('user 1');
    expect(facts).to.match(new RegExp(`^ \\(user ${forger.id}, `));
  });

  it('says what to do when Discord does not list members', async () => {
    const { host, alice } = harness;
    host.discord.faults.rest.fail(403, {
      route: '/guilds/:guildId/members',
      body: { message: 'Missing Access', code: 50001 },
    });
    expect(await harness.refused(alice, 'discord_list_members', on({}))).to.contain('Server Members Intent');
  });

  it('puts one in time-out, by the clock, and ends it', async () => {
    const { mod, bob, guild, host } = harness;
    const text = await harness.done(
      mod,
      'discord_timeout_member',
      on({ userId: bob.id, seconds: 600, reason: 'calm down' }),
    );
    const until = host.clock.now() + 600_000;
    expect(guild.memberOf(bob).timedOutUntil).to.equal(until);
    expect(text).to.contain(new Date(until).toISOString());
    expect(await harness.done(mod, 'discord_get_member', on({ userId: bob.id }))).to.contain('in time-out until');
    await harness.done(mod, 'discord_remove_timeout', on({ userId: bob.id }));
    expect(guild.memberOf(bob).timedOutUntil).to.equal(null);
  });

  it('puts only members below in time-out, and not for longer than Discord allows', async () => {
    const { mod, owner, alice, guild, modRole, host } = harness;
    const timeOut = (userId: string, seconds = 60) => on({ userId, seconds });
    const peer = host.discord.createUser({ name: 'peer' });
    guild.join(peer, { roles: [modRole] });
    await host.settled();
    expect(await harness.refused(mod, 'discord_timeout_member', timeOut(peer.id))).to.contain('not below you');
    expect(await harness.refused(mod, 'discord_timeout_member', timeOut(mod.id))).to.contain('not below you');
    expect(await harness.refused(mod, 'discord_timeout_member', timeOut(owner.id))).to.contain('owns this server');
    expect(await harness.refused(mod, 'discord_timeout_member', timeOut(alice.id, 29 * DAY_S))).to.contain('seconds');
    const admin = guild.createRole({ name: 'Low admins', permissions: ['Administrator'], position: 2 });
    guild.giveRole(alice, admin);
    await host.settled();
    expect(await harness.refused(mod, 'discord_timeout_member', timeOut(alice.id))).to.contain('administrator');
    expect(guild.memberOf(alice).timedOutUntil).to.equal(null);
    guild.deleteRole(admin);
  });

  it('refuses moderators who are in time-out themselves', async () => {
    const { mod, bob, guild, host, owner } = harness;
    await harness.done(owner, 'discord_timeout_member', on({ userId: mod.id, seconds: 60 }));
    await harness.refused(mod, 'discord_timeout_member', on({ userId: bob.id, seconds: 60 }));
    expect(guild.memberOf(bob).timedOutUntil).to.equal(null);
    await host.advance(61_000);
    await harness.done(mod, 'discord_remove_timeout', on({ userId: bob.id }));
  });

  it('exports and forgets for whom messages were sent', async () => {
    const { alice, general, host } = harness;
    await harness.done(alice, 'discord_send', { channelId: general.id, message: 'for the record' });
    const sent = general.messages.at(-1);
    const store = host.resolve(PersonalDataStore);
    const held = async () => JSON.stringify((await store.export(alice.id))['discord-tools'] ?? {});
    expect(await held()).to.contain(sent?.id);
    await store.forget(alice.id);
    expect(await held()).to.not.contain(sent?.id);
    const edit = { channelId: general.id, messageId: sent?.id, content: 'still mine' };
    expect(await harness.refused(alice, 'discord_edit_message', edit)).to.contain('Manage Messages');
  });
});
