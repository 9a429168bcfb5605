import type { TestHost } from '@cinnabar/core/testing';

/** A member, an admin, an admin of another server, and the owner of server and bot. */
export async function webPeople(host: TestHost) {
  const { alice, bob, discord, guild, you } = host;
  const admin = discord.createUser({ name: 'chief' });
  guild.join(admin);
  guild.giveRole(admin, guild.createRole({ name: 'Chiefs', permissions: ['ManageGuild'] }));
  const elsewhere = discord.createGuild({ name: 'Elsewhere', owner: bob });
  elsewhere.invite(host.application);
  const stranger = discord.createUser({ name: 'stranger' });
  elsewhere.join(stranger);
  elsewhere.giveRole(stranger, elsewhere.createRole({ name: 'Chiefs', permissions: ['ManageGuild'] }));
  await host.settled();
  return { member: alice, stranger, admin, owner: you };
}
