import type { LocalRole } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { PermissionFlagsBits } from 'discord.js';
import { type Harness, openToolsHarness } from './harness.js';
import { firstId } from './things.js';

describe('discord-tools: roles', () => {
  let harness: Harness;
  let admins: LocalRole;
  let guests: LocalRole;
  before(async () => {
    harness = await openToolsHarness();
    admins = harness.guild.createRole({ name: 'Admins', permissions: ['Administrator'], position: 30 });
    guests = harness.guild.createRole({ name: 'Guests', position: 3 });
    await harness.host.settled();
  });
  after(() => harness[Symbol.asyncDispose]());

  const on = (input: object) => ({ guildId: harness.guild.id, ...input });

  it('lists them, the highest first', async () => {
    const text = await harness.done(harness.alice, 'discord_list_roles', on({}));
    const names = text.split('\n').map((line) => /^\*\*(.*?)\*\* \(role/.exec(line)?.[1]);
    expect(names).to.deep.equal(['Cinnabar', 'Admins', 'Moderators', 'Guests', '@everyone'.replace('@', '\\@')]);
    expect(text).to.contain('Administrator').and.contain('managed');
  });

  it('creates one only with permissions that the requester has', async () => {
    const { mod, guild } = harness;
    const make = (input: object) => on({ name: 'Helpers', ...input });
    expect(await harness.refused(mod, 'discord_create_role', make({ permissions: ['Administrator'] }))).to.contain(
      'Administrator',
    );
    const text = await harness.done(
      mod,
      'discord_create_role',
      make({ color: '#ff8800', hoist: true, mentionable: true, permissions: ['ManageMessages'] }),
    );
    expect(guild.roles.get(firstId(text))).to.include({
      name: 'Helpers',
      color: 0xff8800,
      hoist: true,
      mentionable: true,
      permissions: PermissionFlagsBits.ManageMessages,
    });
    const bare = await harness.done(mod, 'discord_create_role', make({}));
    expect(guild.roles.get(firstId(bare))?.permissions).to.equal(0n);
  });

  it('changes one only below the requester, and only permissions that they have', async () => {
    const { mod, owner } = harness;
    const edit = (role: LocalRole, input: object) => on({ roleId: role.id, ...input });
    await harness.done(mod, 'discord_edit_role', edit(guests, { name: 'Visitors', permissions: ['ManageThreads'] }));
    expect(guests).to.include({ name: 'Visitors', permissions: PermissionFlagsBits.ManageThreads });
    const refused = (role: LocalRole, input: object) => harness.refused(mod, 'discord_edit_role', edit(role, input));
    expect(await refused(guests, { permissions: ['BanMembers'] })).to.contain('BanMembers');
    expect(await refused(guests, { position: 4 })).to.contain('below your highest role');
    expect(await refused(admins, { name: 'Peasants' })).to.contain('not below your highest role');
    expect(await refused(harness.modRole, { permissions: ['Administrator'] })).to.contain(
      'not below your highest role',
    );
    await harness.done(owner, 'discord_edit_role', edit(admins, { mentionable: true }));
    expect([admins.name, admins.mentionable]).to.deep.equal(['Admins', true]);
  });

  it('does not remove from a role a permission that the requester does not have', async () => {
    const { mod, guild } = harness;
    const trusted = guild.createRole({ name: 'Trusted', permissions: ['BanMembers'], position: 4 });
    await harness.host.settled();
    const strip = on({ roleId: trusted.id, permissions: [] });
    expect(await harness.refused(mod, 'discord_edit_role', strip)).to.contain('BanMembers');
    guild.deleteRole(trusted);
  });

  it('gives and takes only roles below the requester', async () => {
    const { mod, alice, guild, modRole } = harness;
    const give = (role: LocalRole) => on({ userId: alice.id, roleId: role.id });
    const rolesOf = () => [...guild.memberOf(alice).roles].map(({ name }) => name);
    await harness.done(mod, 'discord_assign_role', give(guests));
    expect(rolesOf()).to.deep.equal([guests.name]);
    await harness.done(mod, 'discord_remove_role', give(guests));
    for (const role of [admins, modRole]) {
      expect(await harness.refused(mod, 'discord_assign_role', give(role))).to.contain('not below your highest role');
    }
    const [own] = [...guild.roles.values()].filter(({ botId }) => botId !== undefined);
    if (own === undefined) throw new Error('the bot has no role');
    expect(await harness.refused(mod, 'discord_assign_role', give(own))).to.contain('belongs to a bot');
    expect(rolesOf()).to.deep.equal([]);
  });

  it('does for the owner what the bot can, and no more', async () => {
    const { owner, alice, guild } = harness;
    await harness.done(owner, 'discord_assign_role', on({ userId: alice.id, roleId: admins.id }));
    guild.takeRole(alice, admins);
    const lofty = guild.createRole({ name: 'Lofty', position: 60 });
    await harness.host.settled();
    const said = await harness.refused(owner, 'discord_assign_role', on({ userId: alice.id, roleId: lofty.id }));
    expect(said).to.contain('not below my highest role');
    guild.deleteRole(lofty);
  });

  it('deletes only roles below the requester', async () => {
    const { mod, guild } = harness;
    await harness.refused(mod, 'discord_delete_role', on({ roleId: admins.id }));
    await harness.done(mod, 'discord_delete_role', on({ roleId: guests.id }));
    expect([guild.roles.has(admins.id), guild.roles.has(guests.id)]).to.deep.equal([true, false]);
  });
});
