import { type GuildMember, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Members } from '../access/members.js';
import type { Ask } from '../ask.js';
import type { HistoryMessage } from '../types.js';

/**
 * Whether the author of a `.history` message may use it: members who may manage messages there, or have one of the roles (by id or name).
 * In a direct message, the person. Never a bot or a webhook: both say what others put into their mouths.
 */
export async function mayUseHistory(
  { author }: HistoryMessage,
  channel: SendableChannels,
  historyRoles: readonly string[],
  members: Members,
  ask: Ask,
): Promise<boolean> {
  if (author.bot || author.self || author.speaker !== author.id) return false;
  if (channel.isDMBased()) return true;
  const member = await members.find(channel.guild, author.id, ask);
  if (member === undefined) return false;
  const manages = channel.permissionsFor(member)?.has(PermissionFlagsBits.ManageMessages) ?? false;
  return manages || hasRole(member, historyRoles);
}

function hasRole(member: GuildMember, wanted: readonly string[]): boolean {
  const names = new Set(wanted.map((name) => name.trim().toLowerCase()));
  return member.roles.cache.some(({ id, name }) => names.has(id) || names.has(name.toLowerCase()));
}
