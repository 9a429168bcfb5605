import type { GuildMember } from 'discord.js';
import { nameText } from '../../reading/names.js';

export interface MemberView {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly bot: boolean;
  readonly joinedAt: string | null;
  /** The highest first. */
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  /** Until when they are in time-out. */
  readonly timedOutUntil?: string;
}

export function viewMember(member: GuildMember, now: number): MemberView {
  const until = member.communicationDisabledUntilTimestamp ?? 0;
  return {
    id: member.id,
    username: member.user.username,
    displayName: member.displayName,
    bot: member.user.bot,
    joinedAt: member.joinedAt?.toISOString() ?? null,
    roles: [...member.roles.cache.values()]
      .filter(({ id }) => id !== member.guild.id)
      .sort((one, other) => other.comparePositionTo(one))
      .map(({ id, name }) => ({ id, name })),
    ...(until > now ? { timedOutUntil: new Date(until).toISOString() } : {}),
  };
}

export function memberText({ id, username, displayName, bot, joinedAt, roles, timedOutUntil }: MemberView): string {
  const facts = [
    `${nameText(displayName)} (${bot ? 'bot' : 'user'} ${id}, @${nameText(username)})`,
    ...(joinedAt === null ? [] : [`joined ${joinedAt}`]),
    ...(roles.length === 0 ? [] : [`roles ${roles.map((role) => `${nameText(role.name)} (${role.id})`).join(', ')}`]),
    ...(timedOutUntil === undefined ? [] : [`in time-out until ${timedOutUntil}`]),
  ];
  return facts.join(' · ');
}
