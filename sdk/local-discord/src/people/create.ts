import { Guild } from '../actions/guild.js';
import { addMember } from '../actions/members.js';
import type { LocalApplication, LocalTeam, PrivilegedIntent } from '../state/application.js';
import type { LocalGuild } from '../state/guild.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { Account } from './account.js';

export interface UserInit {
  name: string;
  /** What people see instead of the name. */
  displayName?: string;
}

export interface ApplicationInit {
  name: string;
  owner: LocalUser;
  /** Owns the application together; its first member is the owner that Discord names. */
  team?: { name: string; members: readonly LocalUser[] };
  description?: string;
  /** Which privileged intents the developer portal allows; all unless told. */
  privilegedIntents?: readonly PrivilegedIntent[];
}

/** Somebody with an account; not yet in any guild. */
export function createUser(world: World, init: UserInit): LocalUser {
  const user = new Account(world, init.name, false);
  user.globalName = init.displayName ?? null;
  world.users.set(user.id, user);
  return user;
}

/** A bot with its application; not yet in any guild. */
export function createApplication(world: World, init: ApplicationInit): LocalApplication {
  const user = new Account(world, init.name, true);
  const { id } = user;
  const team: LocalTeam | undefined = init.team && { id: world.nextId(), ...init.team };
  const application: LocalApplication = {
    id,
    name: init.name,
    user,
    owner: init.owner,
    team,
    token: `${Buffer.from(id).toString('base64url')}.local0.${Buffer.from(`token of ${init.name}`).toString('base64url')}`,
    description: init.description ?? '',
    privilegedIntents: new Set(init.privilegedIntents ?? ['GuildMembers', 'GuildPresences', 'MessageContent']),
    globalCommands: new Map(),
    guildCommands: new Map(),
    commandCreations: new Map(),
  };
  world.users.set(id, user);
  world.applications.set(id, application);
  return application;
}

/** A guild with its owner in it, and no channels. */
export function createGuild(world: World, init: { name: string; owner: LocalUser }): LocalGuild {
  const guild = new Guild(world, init.name, init.owner);
  world.guilds.set(guild.id, guild);
  addMember(world, guild, init.owner);
  return guild;
}
