import type { TaskStatus } from '@cinnabar/sdk';

/** Every live task can be put back in line: after a restart, and when it has waited for somebody. */
const ALWAYS = ['queued', 'paused', 'cancelled', 'error'] as const;

/**
 * Where a task can go from each status. A status that leads nowhere is final. Limits end a task as `completed`; what goes
 * wrong, as `error`; what a person or the loss of their rights ends, as `cancelled`.
 */
export const TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  queued: ['running', 'paused', 'cancelled', 'error'],
  running: [...ALWAYS, 'thinking', 'tool_executing', 'waiting_user', 'waiting_time', 'completed'],
  thinking: [...ALWAYS, 'running', 'tool_executing', 'completed'],
  tool_executing: [...ALWAYS, 'running', 'waiting_approval'],
  waiting_approval: [...ALWAYS, 'running'],
  waiting_user: [...ALWAYS, 'running'],
  waiting_time: [...ALWAYS, 'running'],
  paused: ['queued', 'cancelled', 'error'],
  completed: [],
  cancelled: [],
  error: [],
};

export const isFinal = (status: TaskStatus): boolean => TRANSITIONS[status].length === 0;

/** Staying is always allowed: what changes then is not the status. */
export const mayFollow = (from: TaskStatus, to: TaskStatus): boolean =>
  (from === to && !isFinal(from)) || TRANSITIONS[from].includes(to);

/** In these a task works; in the others it waits for somebody or something, and time is not counted. */
export const isWorking = (status: TaskStatus): boolean =>
  status === 'running' || status === 'thinking' || status === 'tool_executing';
