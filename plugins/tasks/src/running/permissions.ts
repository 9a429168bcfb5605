import { type Access, type AccessPolicy, type Actor, CinnabarError, type Tier, UserError } from '@cinnabar/sdk';
import { actorOf, type Task } from '../task.js';
import { markFinished } from './complete-step.js';
import { pause, type RunControl, type TaskContext } from './run-control.js';

/** Who may have tasks: whoever may write where they work. */
export const TASK_POLICY: AccessPolicy = { member: ['SendMessages'] };
/** So often, while a task works. */
const FRESH_MS = 60_000;
/** Before a right counts as lost, it is looked for once more. */
const DOUBT_MS = 10_000;
export const SUBJECT = { kind: 'command', name: 'task', plugin: 'tasks', policy: TASK_POLICY } as const;

type Leave =
  | { readonly is: 'given' }
  | { readonly is: 'off' }
  /** Not `certain`: it may also be that it could not be found out just now. */
  | { readonly is: 'gone'; readonly because: string; readonly certain: boolean };

/**
 * Whether who asked may still have the task done where it works: they may have left, or not be allowed to write there any more.
 * @param fresh whether Discord is asked if they are still there
 */
export async function leaveOf(
  { access, isStillThere }: Pick<TaskContext, 'access' | 'isStillThere'>,
  task: Task,
  fresh: boolean,
): Promise<Leave> {
  if (fresh && !(await isStillThere(task.actor)))
    return { is: 'gone', because: 'Whoever asked for this has left.', certain: true };
  const { reasons, allowed } = await access.decide(actorOf(task), SUBJECT);
  if (allowed) return { is: 'given' };
  const denying = reasons.filter((reason) => !reason.allowed);
  if (denying.every(({ rule }) => rule === 'plugin-enabled')) return { is: 'off' };
  const because = denying.map(({ text }) => text).join('; ');
  return {
    is: 'gone',
    because: `Whoever asked for this may not have it done here any more: ${because}.`,
    certain: false,
  };
}

/** A plugin that is switched off in a guild pauses its tasks there; whoever has no right to a task any more has none. */
export async function mayGoOn(
  context: Pick<TaskContext, 'access' | 'journal' | 'isStillThere' | 'clock'>,
  control: RunControl,
  task: Task,
): Promise<boolean> {
  // Not at every step: tools ask for themselves.
  const fresh = context.clock.now() - control.askedAt >= FRESH_MS;
  if (fresh) control.askedAt = context.clock.now();
  let leave = await leaveOf(context, task, fresh);
  if (leave.is === 'gone' && !leave.certain) {
    await pause(context.clock, DOUBT_MS, control.interrupted);
    leave = await leaveOf(context, task, true);
  }
  if (leave.is === 'off') {
    await context.journal.move(task.id, 'paused', (draft) => {
      draft.pausedByHost = true;
      draft.pausing = false;
    });
  } else if (leave.is === 'gone')
    await markFinished(context, task.id, 'cancelled', { kind: 'gone', text: leave.because });
  return leave.is === 'given';
}

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
