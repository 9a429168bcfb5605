import type { APIUser } from 'discord-api-types/v10';
import type { MessageAuthor } from '../state/user.js';

export function userPayload(user: MessageAuthor): APIUser {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot ? '0000' : '0',
    global_name: user.globalName,
    avatar: user.avatar,
    ...(user.bot ? { bot: true } : {}),
  };
}
