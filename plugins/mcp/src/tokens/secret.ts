import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token's secret part: 256 random bits, so nothing slower than SHA-256 is needed to keep it. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** Names a token for people, and finds it. */
export const newTokenId = () => randomBytes(4).toString('hex');

export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
