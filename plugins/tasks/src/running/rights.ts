import { type Access, type Actor, CinnabarError, type Tier, UserError } from '@cinnabar/sdk';
import type { Task } from '../model/task.js';

/**
 * Whether somebody may act on a task: who asked for it, and from a tier on others of the same guild.
 * @throws UserError for anybody else
 */
export async function assertMay(access: Access, task: Task, by: Actor, tier: Tier, what: string): Promise<void> {
  const { actor, workId } = task;
  if (by.userId === actor.userId && by.identity === actor.identity) return;
  const refusal = `Only the member who asked for this task can ${what}.`;
  if (by.guildId === null || by.guildId !== actor.guildId) throw new UserError(refusal);
  const subject = { kind: 'component', name: `task ${what}`, plugin: 'tasks', policy: { tier } } as const;
  const decision = await access.decide({ ...by, channelId: workId ?? by.channelId }, subject);
  if (!decision.allowed) throw new UserError(refusal);
}

/** @throws CINNABAR_ACCESS_DENIED with every reason */
export async function assertMayStart(
  access: Access,
  actor: Actor,
  subject: Parameters<Access['decide']>[1],
): Promise<void> {
  const { allowed, reasons } = await access.decide(actor, subject);
  if (allowed) return;
  const because = reasons.filter((reason) => !reason.allowed).map(({ text }) => text);
  throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: because.join('; ') });
}
