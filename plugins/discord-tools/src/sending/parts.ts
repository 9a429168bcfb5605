import { createHash } from 'node:crypto';
import { splitMessage, UserError } from '@cinnabar/sdk';

const MESSAGE_LIMIT = 2000;
/** Discord's limit for a nonce. */
const NONCE_LENGTH = 25;

/** The text as messages that Discord takes, fences unbroken. @throws UserError when there is nothing to say */
export function messageParts(text: string): readonly string[] {
  const parts = splitMessage(text, MESSAGE_LIMIT);
  if (parts.length === 0) throw new UserError('There is nothing to send: the text is empty.');
  return parts;
}

/** Makes Discord take a request that is repeated for the one that it has carried out already. */
export function nonceFor(key: string, part: number) {
  const nonce = createHash('sha256').update(`${key}:${part}`).digest('base64url').slice(0, NONCE_LENGTH);
  return { nonce, enforceNonce: true } as const;
}
