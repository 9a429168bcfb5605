import type { Actor } from '@cinnabar/sdk';
import type { Task } from './task.js';

/** As whom, and where, a task acts: who asked for it, in the place where it works. */
export function actorOf({ actor, workId }: Pick<Task, 'actor' | 'workId'>): Actor {
  return { ...actor, channelId: workId ?? actor.channelId };
}
