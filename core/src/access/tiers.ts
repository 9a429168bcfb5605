import { TIERS, type Tier } from '@cinnabar/sdk';
import { PermissionFlagsBits } from 'discord.js';
import type { Standing } from './standing.js';

const { Administrator, ManageGuild, ModerateMembers, KickMembers, BanMembers, ManageMessages } = PermissionFlagsBits;

const hasRole = (standing: Standing, ids: readonly string[]) => ids.some((id) => standing.hasRole(id));

/** From the most trusted down: the first that holds is the actor's tier. The guild's tiers have no meaning in a direct message. */
const HOLDS: readonly (readonly [Tier, (standing: Standing) => boolean])[] = [
  ['botOwner', (standing) => standing.isBotOwner],
  ['everyone', (standing) => standing.place === 'dm'],
  ['guildOwner', (standing) => standing.isGuildOwner],
  [
    'admin',
    (standing) => standing.guildPermissions.any([Administrator, ManageGuild]) || hasRole(standing, standing.adminRoles),
  ],
  [
    'mod',
    (standing) =>
      standing.guildPermissions.any([ModerateMembers, KickMembers, BanMembers, ManageMessages]) ||
      hasRole(standing, standing.modRoles),
  ],
];

export function tierIn(standing: Standing): Tier {
  return HOLDS.find(([, holds]) => holds(standing))?.[0] ?? 'everyone';
}

export function reaches(actual: Tier, needed: Tier): boolean {
  return TIERS.indexOf(actual) >= TIERS.indexOf(needed);
}

/** A tier as it reads in a sentence: "you are …". */
export const TIER_NAMES: Readonly<Record<Tier, string>> = {
  everyone: 'an ordinary member',
  mod: 'a moderator',
  admin: 'an admin',
  guildOwner: "the server's owner",
  botOwner: "the bot's owner",
};
