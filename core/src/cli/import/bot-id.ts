import { isSnowflake } from '../../config/names.js';

/** The user id that a bot's token begins with, in base64. */
export function idInToken(token: string | undefined): string | undefined {
  const [first = ''] = token?.split('.') ?? [];
  const id = Buffer.from(first, 'base64').toString('latin1');
  return isSnowflake(id) ? id : undefined;
}
