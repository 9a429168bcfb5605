import { type Actor, type TaskInfo, type Tasks, UserError } from '@cinnabar/sdk';

const ENDED = new Set(['completed', 'cancelled', 'error']);

/** The task that somebody means: by the end of its id; else the one in whose thread they are, else their newest one here. @throws UserError */
export async function chooseTask(tasks: Tasks, actor: Actor, label: string | undefined): Promise<TaskInfo> {
  const all = await tasks.list({ guildId: actor.guildId });
  if (label !== undefined) {
    const named = all.filter(({ id }) => id.endsWith(label));
    if (named[0] !== undefined && named.length === 1) return named[0];
    throw new UserError(`There is no task "${label}" here. \`tasks\` lists them.`);
  }
  const open = all.filter(({ status }) => !ENDED.has(status));
  const here = open.filter(({ channelId }) => channelId === actor.channelId);
  const inThread = here.find(({ actor: who, channelId }) => who.channelId !== channelId);
  const own = [...here, ...open].find(({ actor: who }) => who.userId === actor.userId);
  const chosen = inThread ?? own;
  if (chosen === undefined) throw new UserError('You have no open task here. `tasks` lists all of them.');
  return chosen;
}

/** A task that is over: the one of the thread where the actor is, else their newest of the channel, else their newest. */
export function chooseEnded(all: readonly TaskInfo[], { userId, channelId }: Actor): TaskInfo | undefined {
  const over = all.filter(({ status }) => ENDED.has(status));
  const inThread = over.find((task) => task.channelId === channelId && task.actor.channelId !== channelId);
  const own = over.filter((task) => task.actor.userId === userId);
  return inThread ?? own.find((task) => task.actor.channelId === channelId) ?? own[0];
}
