import { NO_USAGE, type TaskRequest } from '@cinnabar/sdk';
import type { Task } from './task.js';

/** A task that nobody has begun with. */
export function newTask(
  id: string,
  { prompt, actor, origin, messageId }: TaskRequest,
  requester: string,
  now: number,
): Task {
  return {
    id,
    actor: { ...actor },
    requester,
    origin,
    prompt,
    ...(messageId === undefined ? {} : { messageId }),
    status: 'queued',
    createdAt: now,
    changedAt: now,
    workedMs: 0,
    stepCount: 0,
    usage: { ...NO_USAGE },
    cost: 0,
    warned: false,
    scratchpad: [],
    entries: [],
    unknowns: [],
    circles: { lastCall: '', identical: 0, idle: 0, errors: 0, failures: 0 },
    log: [],
    pausing: false,
    pausedByHost: false,
  };
}
