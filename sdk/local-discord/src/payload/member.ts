import type { APIGuildMember, APIGuildMemberNoUser } from 'discord-api-types/v10';
import { GuildMemberFlags } from 'discord-api-types/v10';
import type { LocalMember } from '../state/member.js';
import { isoTime, isoTimeOrNull } from './time.js';
import { userPayload } from './user.js';

const NO_FLAGS: GuildMemberFlags = GuildMemberFlags.DidRejoin & 0;

/** A member as it stands beside its user: in messages and mentions. */
export function memberWithoutUser(member: LocalMember): APIGuildMemberNoUser {
  return {
    nick: member.nick,
    roles: [...member.roles].map((role) => role.id),
    joined_at: isoTime(member.joinedAt),
    premium_since: null,
    pending: false,
    communication_disabled_until: isoTimeOrNull(member.timedOutUntil),
    avatar: null,
    banner: null,
    deaf: member.deaf,
    mute: member.mute,
    flags: NO_FLAGS,
  };
}

export function memberPayload(member: LocalMember): APIGuildMember {
  return { ...memberWithoutUser(member), user: userPayload(member.user) };
}
