import type { Clock, Collection, Logger, TaskStatus } from '@cinnabar/sdk';
import { isFinal, isWorking, mayFollow, type Task } from '../task.js';

/** A change that came too late: the task has ended, was paused, or belongs to somebody else by now. Nothing was written. */
export class Superseded extends Error {
  constructor(from: TaskStatus, to: TaskStatus) {
    super(`a task that is ${from} cannot become ${to}`);
    this.name = 'Superseded';
  }
}

/** Where every transition is written before anything follows from it. */
export interface Journal {
  add(task: Task): Promise<Task>;
  /** Tasks that this run carries out, and ended ones of which the channel has not been told yet. */
  live(): readonly Task[];
  /** One of those, as it was written last. */
  peek(id: string): Task | undefined;
  find(id: string): Promise<Task | undefined>;
  /** Takes the task to another status, in one write with what else changes. @throws Superseded */
  move(id: string, to: TaskStatus, change?: (draft: Task) => void): Promise<Task>;
  /** Changes a task that has not ended; its status stays. @throws Superseded */
  note(id: string, change: (draft: Task) => void): Promise<Task>;
  /** Puts one that is over, and has been told of, back in line, in one write with what else changes. @throws Superseded */
  reopen(id: string, change: (draft: Task) => void): Promise<Task>;
  /** Changes one that has ended, or nothing: what became known afterwards. */
  amend(id: string, change: (draft: Task) => void): Promise<Task>;
  /** Takes the task over for this run when `isFree` says so of whoever had it. `undefined` when it was not free, or has been told of already. */
  claim(id: string, isFree: (lease: string | undefined) => boolean): Promise<Task | undefined>;
  /** Lets it go: another run may take it. */
  release(id: string): void;
  remove(id: string): Promise<void>;
  all(): AsyncIterable<Task>;
  /** Called after every write. */
  onChange(listener: (task: Task) => void): () => void;
}

interface JournalParts {
  readonly tasks: Collection<Task, 'global'>;
  /** The id of this run of the plugin. */
  readonly run: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createJournal({ tasks, run, clock, log }: JournalParts): Journal {
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
    async add(task) {
      return keep(await tasks.of(task.id).set({ ...task, lease: run }));
    },
    live: () => [...live.values()],
    peek: (id) => live.get(id),
    find: async (id) => live.get(id) ?? (await tasks.of(id).find()),
    move: (id, to, change) =>
      write(id, (draft) => {
        if (!mayFollow(draft.status, to) || draft.lease !== run) throw new Superseded(draft.status, to);
        touch(draft);
        change?.(draft);
        if (to === 'waiting_approval' || to === 'waiting_user') draft.waitsSince ??= draft.changedAt;
        draft.status = to;
        if (isFinal(to)) draft.endedAt = draft.changedAt;
      }),
    note: (id, change) =>
      write(id, (draft) => {
        if (isFinal(draft.status) || draft.lease !== run) throw new Superseded(draft.status, draft.status);
        touch(draft);
        change(draft);
      }),
    reopen: (id, change) =>
      write(id, (draft) => {
        if (!isFinal(draft.status) || draft.ending?.told !== true) throw new Superseded(draft.status, 'queued');
        change(draft);
        draft.status = 'queued';
        draft.changedAt = clock.now();
        draft.lease = run;
        delete draft.endedAt;
        delete draft.ending;
      }),
    amend: (id, change) => write(id, change),
    async claim(id, isFree) {
      let claimed = false;
      const task = await tasks.of(id).update((draft) => {
        const over = isFinal(draft.status) && draft.ending?.told !== false;
        claimed = !over && (draft.lease === run || isFree(draft.lease));
        if (!claimed) return;
        draft.lease = run;
        // The time in which nobody worked on it is not its own.
        draft.changedAt = clock.now();
      });
      return claimed ? keep(task) : undefined;
    },
    release: (id) => void live.delete(id),
    async remove(id) {
      live.delete(id);
      await tasks.of(id).delete();
    },
    async *all() {
      for await (const [id, task] of tasks.entries()) yield live.get(id) ?? task;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Removes the oldest of the ended tasks of which there are more than `keep`. */
export async function pruneEnded(journal: Journal, keep: number): Promise<void> {
  const ended: Task[] = [];
  for await (const task of journal.all()) if (isFinal(task.status) && task.ending?.told !== false) ended.push(task);
  ended.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  for (const { id } of ended.slice(keep)) await journal.remove(id);
}
