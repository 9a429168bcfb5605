import type { Clock, Collection, Logger, TaskStatus } from '@cinnabar/sdk';
import { isFinal, isWorking, mayBecome, type Task } from '../task.js';

/** Thrown by a change that came too late: the task has ended, was paused, or another run has it. Nothing was written. */
export class Superseded extends Error {
  constructor(from: TaskStatus, to: TaskStatus) {
    super(`a task that is ${from} cannot become ${to}`);
    this.name = 'Superseded';
  }
}

/** Writes every transition before anything follows from it. @param run the id of this run of the plugin */
export function createJournal({
  tasks,
  run,
  clock,
  log,
}: {
  readonly tasks: Collection<Task, 'global'>;
  readonly run: string;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const live = new Map<string, Task>();
  const listeners = new Set<(task: Task) => void>();

  const tell = (task: Task) => {
    for (const listener of listeners) {
      try {
        listener(task);
      } catch (error) {
        log.warn('a listener to tasks failed', { taskId: task.id, error });
      }
    }
  };
  const keep = (task: Task): Task => {
    if (isFinal(task.status) && task.ending?.told !== false) live.delete(task.id);
    else live.set(task.id, task);
    tell(task);
    return task;
  };
  const write = async (id: string, change: (draft: Task) => void) => keep(await tasks.of(id).update(change));

  /** What it has worked until now is added up at every write. */
  const touch = (draft: Task) => {
    const now = clock.now();
    if (isWorking(draft.status)) draft.workedMs += Math.max(0, now - draft.changedAt);
    draft.changedAt = now;
  };

  return {
    async add(task: Task): Promise<Task> {
      return keep(await tasks.of(task.id).set({ ...task, lease: run }));
    },
    /** Tasks that this run carries out, and ended ones of which the channel has not been told yet. */
    live: (): readonly Task[] => [...live.values()],
    /** One of those, as it was written last. */
    peek: (id: string): Task | undefined => live.get(id),
    find: async (id: string): Promise<Task | undefined> => live.get(id) ?? (await tasks.of(id).find()),
    /** Takes the task to another status, in one write with what else changes. @throws Superseded */
    move: (id: string, to: TaskStatus, change?: (draft: Task) => void): Promise<Task> =>
      write(id, (draft) => {
        if (!mayBecome(draft.status, to) || draft.lease !== run) throw new Superseded(draft.status, to);
        touch(draft);
        change?.(draft);
        if (to === 'waiting_approval' || to === 'waiting_user') draft.waitsSince ??= draft.changedAt;
        draft.status = to;
        if (isFinal(to)) draft.endedAt = draft.changedAt;
      }),
    /** Changes a task that has not ended; its status stays. @throws Superseded */
    note: (id: string, change: (draft: Task) => void): Promise<Task> =>
      write(id, (draft) => {
        if (isFinal(draft.status) || draft.lease !== run) throw new Superseded(draft.status, draft.status);
        touch(draft);
        change(draft);
      }),
    /** Puts one that is over, and has been told of, back in line, in one write with what else changes. @throws Superseded */
    reopen: (id: string, change: (draft: Task) => void): Promise<Task> =>
      write(id, (draft) => {
        if (!isFinal(draft.status) || draft.ending?.told !== true) throw new Superseded(draft.status, 'queued');
        change(draft);
        draft.status = 'queued';
        draft.changedAt = clock.now();
        draft.lease = run;
        delete draft.endedAt;
        delete draft.ending;
      }),
    /** Changes one that has ended, or nothing: what became known afterwards. */
    amend: (id: string, change: (draft: Task) => void): Promise<Task> => write(id, change),
    /** Takes the task over for this run: the one before is over, since a server has one host at a time. `undefined` when it has been told of already. */
    async claim(id: string): Promise<Task | undefined> {
      let claimed = false;
      const task = await tasks.of(id).update((draft) => {
        claimed = !(isFinal(draft.status) && draft.ending?.told !== false);
        if (!claimed) return;
        draft.lease = run;
        // Time in which no process worked on it does not count.
        draft.changedAt = clock.now();
      });
      return claimed ? keep(task) : undefined;
    },
    /** Lets it go: another run may take it. */
    release: (id: string): void => void live.delete(id),
    async remove(id: string): Promise<void> {
      live.delete(id);
      await tasks.of(id).delete();
    },
    async *all(): AsyncIterable<Task> {
      for await (const [id, task] of tasks.entries()) yield live.get(id) ?? task;
    },
    /** Called after every write. */
    onChange(listener: (task: Task) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;

/** Removes the oldest of the ended tasks of which there are more than `keep`. */
export async function pruneEnded(journal: Journal, keep: number): Promise<void> {
  const ended: Task[] = [];
  for await (const task of journal.all()) if (isFinal(task.status) && task.ending?.told !== false) ended.push(task);
  ended.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  for (const { id } of ended.slice(keep)) await journal.remove(id);
}
