import { visible } from '@cinnabar/sdk';
import type { Caller, Parts } from '../parts.js';

/** Discord's limit for the reason in an audit log. */
const LONGEST = 512;

/** What the server's audit log says: who asked, since the entry itself only names the bot; then the reason, which anybody can have written. */
export function auditReason({ client }: Pick<Parts, 'client'>, { actor }: Caller, reason: string | undefined): string {
  const name = client.users.cache.get(actor.userId)?.username ?? 'a member';
  const agent = actor.identity === undefined ? '' : ` through ${actor.identity}`;
  const asked = `asked by ${name} (${actor.userId})${agent}`;
  const given = visible(reason?.trim() ?? '').slice(0, LONGEST - asked.length - 2);
  return given === '' ? asked : `${asked}: ${given}`;
}
