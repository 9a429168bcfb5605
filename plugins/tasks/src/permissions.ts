import { type Access, type AccessPolicy, type Actor, CinnabarError, t, UserError } from '@cinnabar/sdk';
import type { TaskContext } from './context.js';
import type { Task } from './task.js';

/** Members may have tasks where they may send messages. */
export const TASK_POLICY: AccessPolicy = { member: ['SendMessages'] };
export const SUBJECT = { kind: 'command', name: 'task', plugin: 'tasks', policy: TASK_POLICY } as const;

/** Acts on tasks, under their names in access checks. */
export type Act =
  | 'answer its question'
  | 'continue it'
  | 'pause it'
  | 'resume it'
  | 'say anything to it'
  | 'see its details'
  | 'stop it';

const refusalOf = (act: Act): string =>
  ({
    'answer its question': t('Only the member who asked for this task can answer its question.'),
    'continue it': t('Only the member who asked for this task can continue it.'),
    'pause it': t('Only the member who asked for this task can pause it.'),
    'resume it': t('Only the member who asked for this task can resume it.'),
    'say anything to it': t('Only the member who asked for this task can say anything to it.'),
    'see its details': t('Only the member who asked for this task can see its details.'),
    'stop it': t('Only the member who asked for this task can stop it.'),
  })[act];

/**
 * Checks that a person may act on a task: its member always, others of the same guild from the tier in `setting`.
 * @throws UserError
 */
export async function assertMay(
  { access, settings }: TaskContext,
  task: Task,
  by: Actor,
  setting: 'controlTier' | 'answerTier',
  act: Act,
): Promise<void> {
  const { actor, workId } = task;
  if (by.userId === actor.userId && by.identity === actor.identity) return;
  if (by.guildId === null || by.guildId !== actor.guildId) throw new UserError(refusalOf(act));
  const { [setting]: tier } = await settings.guild(actor.guildId).get();
  const subject = { kind: 'component', name: `task ${act}`, plugin: 'tasks', policy: { tier } } as const;
  const decision = await access.decide({ ...by, channelId: workId ?? by.channelId }, subject);
  if (!decision.allowed) throw new UserError(refusalOf(act));
}

/** @throws CINNABAR_ACCESS_DENIED with every reason */
export async function assertMayStart(access: Access, actor: Actor): Promise<void> {
  const { allowed, reasons } = await access.decide(actor, SUBJECT);
  if (allowed) return;
  const because = reasons.filter((reason) => !reason.allowed).map(({ text }) => text);
  throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: because.join('; ') });
}
