import { discordError } from '../errors.js';
import type { LocalMember } from '../state/member.js';
import type { LocalRole } from '../state/role.js';

/** Which role wins: the higher position, then the older id. */
export function compareRoles(a: LocalRole, b: LocalRole): number {
  return a.position - b.position || Number(BigInt(b.id) - BigInt(a.id));
}

/** The highest role of a member; @everyone when they have none. */
export function highestRole(member: LocalMember): LocalRole {
  let highest = member.guild.everyone;
  for (const role of member.roles) if (compareRoles(role, highest) > 0) highest = role;
  return highest;
}

/** Throws 50013 unless the actor stands above the role (or owns the guild). */
export function requireAboveRole(actor: LocalMember, role: LocalRole): void {
  if (actor.guild.ownerId === actor.user.id) return;
  if (compareRoles(highestRole(actor), role) <= 0) throw discordError('missingPermissions');
}

/** Throws 50013 unless the actor may kick, ban, rename or time out the target. Nobody outranks the guild's owner. */
export function requireAbove(actor: LocalMember, target: LocalMember): void {
  if (actor === target) return;
  if (actor.guild.ownerId === target.user.id) throw discordError('missingPermissions');
  requireAboveRole(actor, highestRole(target));
}
