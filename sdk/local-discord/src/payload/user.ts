import { type APIUser, Locale } from 'discord-api-types/v10';
import type { MessageAuthor } from '../state/user.js';

/** A number, since the enumeration has no name for none. */
export const NO_FLAGS: number = 0;

/** With the fields that Discord's description requires of every user. */
export function userPayload(user: MessageAuthor): APIUser {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot ? '0000' : '0',
    global_name: user.globalName,
    avatar: user.avatar,
    public_flags: NO_FLAGS,
    flags: NO_FLAGS,
    primary_guild: null,
    ...(user.bot ? { bot: true } : {}),
  };
}

/** An account as its own bot gets it. */
export function ownUserPayload(user: MessageAuthor): APIUser {
  return { ...userPayload(user), verified: true, mfa_enabled: true, locale: Locale.EnglishUS, email: null };
}
