import { audience, broadcast } from '../gateway/dispatch.js';
import { memberPayload } from '../payload/member.js';
import { userPayload } from '../payload/user.js';
import type { LocalApplication } from '../state/application.js';
import type { JoinOptions, LocalGuild } from '../state/guild.js';
import type { LocalMember } from '../state/member.js';
import type { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceGuild, announceLoss } from './guild-events.js';

/** Makes a user a member; somebody who is one already stays as they are. */
export function addMember(world: World, guild: LocalGuild, user: LocalUser, options: JoinOptions = {}): LocalMember {
  const present = guild.members.get(user.id);
  if (present) return present;
  const member: LocalMember = {
    user,
    guild,
    nick: options.nick ?? null,
    roles: new Set(options.roles ?? []),
    joinedAt: world.clock.now(),
    timedOutUntil: null,
    deaf: false,
    mute: false,
  };
  guild.members.set(user.id, member);
  broadcast(world, 'GUILD_MEMBER_ADD', { guild }, { ...memberPayload(member), guild_id: guild.id });
  world.notify({ type: 'memberJoin', guild, user });
  return member;
}

/** Makes a bot a member: its sessions get the whole guild. */
export function addBot(
  world: World,
  guild: LocalGuild,
  application: LocalApplication,
  roles: readonly LocalRole[],
): LocalMember {
  const member = addMember(world, guild, application.user, { roles });
  announceGuild(world, guild, application);
  return member;
}

/** Takes a member out (left, kicked or banned); a bot's sessions lose the guild. */
export function removeMember(world: World, member: LocalMember): void {
  const { guild, user } = member;
  guild.members.delete(user.id);
  for (const thread of guild.threads.values()) thread.thread?.members.delete(user.id);
  broadcast(world, 'GUILD_MEMBER_REMOVE', { guild }, { guild_id: guild.id, user: userPayload(user) });
  const application = world.applications.get(user.id);
  if (application) {
    application.guildCommands.delete(guild.id);
    announceLoss(world, guild, application);
  }
  world.notify({ type: 'memberLeave', guild, user });
}

/** GUILD_MEMBER_UPDATE, after a member was changed. A bot hears of changes to itself whatever its intents. */
export function announceMember(world: World, member: LocalMember): void {
  const { guild, user } = member;
  const payload = JSON.stringify({ ...memberPayload(member), guild_id: guild.id });
  const heard = new Set(audience(world, 'GUILD_MEMBER_UPDATE', { guild }));
  const application = world.applications.get(user.id);
  if (application) for (const own of audience(world, 'USER_UPDATE', { application, guild })) heard.add(own);
  for (const session of heard) session.dispatch('GUILD_MEMBER_UPDATE', payload);
  world.notify({ type: 'memberEdit', guild, user });
}
