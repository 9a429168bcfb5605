import {
  type Clock,
  type Collection,
  escapeRegExp,
  FORGOTTEN,
  isOf,
  type Logger,
  type PersonalData,
  sanitizeName,
  type TaskStatus,
  t,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { TaskContext } from '../context.js';
import { type MayShow, redactForPeople } from '../prompt/redaction.js';
import type { WorkerPool } from '../running/worker-pool.js';
import { type Call, isFinal, isWorking, mayBecome, type Task } from '../task.js';

/** Thrown for a change that comes too late: the task has ended, was paused, or another run has claimed it. Nothing was written. */
export class Superseded extends Error {
  constructor(from: TaskStatus, to: TaskStatus) {
    super(`a task that is ${from} cannot become ${to}`);
    this.name = 'Superseded';
  }
}

/** Writes every transition of a task before its effects. @param run the id of this run of the plugin */
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

  /** Adds the working time since the last write. */
  const touch = (draft: Task) => {
    const now = clock.now();
    if (isWorking(draft.status)) draft.workedMs += Math.max(0, now - draft.changedAt);
    draft.changedAt = now;
  };

  return {
    async add(task: Task): Promise<Task> {
      return keep(await tasks.of(task.id).set({ ...task, lease: run }));
    },
    /** Tasks that this run executes, and ended ones whose result was not posted yet. */
    live: (): readonly Task[] => [...live.values()],
    /** One of those tasks, in its last written state. */
    peek: (id: string): Task | undefined => live.get(id),
    find: async (id: string): Promise<Task | undefined> => live.get(id) ?? (await tasks.of(id).find()),
    /** Changes the task's status, together with other changes in one write. @throws Superseded */
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
    /** Queues an ended task whose result was posted, together with other changes in one write. @throws Superseded */
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
    /** Changes a task whatever its status and run, for facts that became known after its end. */
    amend: (id: string, change: (draft: Task) => void): Promise<Task> => write(id, change),
    /** Claims the task for this run. The previous run has ended, since a server has one host at a time. `undefined` if its result was posted already. */
    async claim(id: string): Promise<Task | undefined> {
      let claimed = false;
      const task = await tasks.of(id).update((draft) => {
        claimed = !(isFinal(draft.status) && draft.ending?.told !== false);
        if (!claimed) return;
        draft.lease = run;
        // Time without a process is not counted as working time.
        draft.changedAt = clock.now();
      });
      return claimed ? keep(task) : undefined;
    },
    /** Removes the task from this process, so that another run may claim it. */
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

/** Deletes the oldest ended tasks beyond `keep`. */
export async function pruneEnded(journal: Journal, keep: number): Promise<void> {
  const ended: Task[] = [];
  for await (const task of journal.all()) if (isFinal(task.status) && task.ending?.told !== false) ended.push(task);
  ended.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  for (const { id } of ended.slice(keep)) await journal.remove(id);
}

/** Export and deletion of a member's tasks. A running task is ended before it is deleted. */
export function personalTasks(
  { client, journal, languages, provenance }: TaskContext,
  workers: WorkerPool,
): PersonalData {
  const theirs = async (userId: string) => {
    const found: Task[] = [];
    for await (const task of journal.all()) if (task.actor.userId === userId) found.push(task);
    return found;
  };
  return {
    export: async (userId) => {
      const mayHave = (sources: Parameters<MayShow>[0]) => provenance.mayHave(sources, userId);
      return Promise.all((await theirs(userId)).map((task) => redactForPeople(task, mayHave)));
    },
    async forget(userId) {
      for (const { id, actor, status } of await theirs(userId)) {
        if (isFinal(status)) continue;
        const end = () => {
          const text = t('The member who asked for this had their data deleted.');
          return workers.end(id, 'cancelled', { kind: 'gone', text });
        };
        await languages.speak(actor, end).catch((error: unknown) => {
          if (!(error instanceof Superseded)) throw error;
        });
      }
      await workers.published();
      for (const { id } of await theirs(userId)) await journal.remove(id);
      for await (const task of journal.all()) {
        // The process that executes a task of others changes it, when it has ended.
        const isOurs = journal.peek(task.id) !== undefined || isFinal(task.status);
        const names = namesOf(client, task, userId);
        if (isOurs && (isIn(task, userId) || isMentionedIn(task, names)))
          await journal.amend(task.id, (draft) => strip(draft, userId, names));
      }
    },
  };
}

/** The names of a person in the conversation before a task, which replace mentions of the person. */
function namesOf(client: Client, { actor, background }: Task, userId: string): readonly string[] {
  const member = client.guilds.cache.get(actor.guildId ?? '')?.members.cache.get(userId);
  const known = [member?.displayName, client.users.cache.get(userId)?.displayName];
  const spoke = (background?.lines ?? []).filter(({ sources }) => isOf(sources, userId)).map(({ speaker }) => speaker);
  const names = [...spoke, ...known.map((name) => sanitizeName(name ?? ''))].filter((name) => name !== '');
  // The longest first, for names that begin with another one.
  return [...new Set(names)].sort((one, other) => other.length - one.length);
}

const MEMBER = 'a member';

const withoutMentions = (text: string, names: readonly string[]): string =>
  names.reduce(
    (rest, name) => rest.replaceAll(new RegExp(`@${escapeRegExp(name)}(?![\\p{L}\\p{N}_])`, 'gu'), `@${MEMBER}`),
    text,
  );

const isMentionedIn = ({ background }: Task, names: readonly string[]): boolean =>
  background?.lines.some(({ text }) => withoutMentions(text, names) !== text) === true;

type Words = { result?: string; text?: string; name?: string; speaker?: string; sources?: Call['sources'] };

/** The parts of other members' tasks that contain a person's text: results of tools, answers to questions, and lines made of them. */
function* wordsIn({ entries, scratchpad, log, step, inbox, background }: Task): Iterable<Words> {
  for (const entry of entries) {
    if (entry.kind === 'step') yield* entry.calls;
    if (entry.kind === 'said') yield entry;
  }
  yield* inbox ?? [];
  yield* background?.lines ?? [];
  yield* step?.calls ?? [];
  yield* log;
  for (const line of scratchpad) if (typeof line !== 'string') yield line;
}

function isIn(task: Task, userId: string): boolean {
  if (task.question?.answer?.byUserId === userId || task.alongside?.includes(userId) === true) return true;
  for (const { sources } of wordsIn(task)) if (isOf(sources, userId)) return true;
  return false;
}

function strip(draft: Task, userId: string, names: readonly string[]): void {
  for (const line of draft.background?.lines ?? []) line.text = withoutMentions(line.text, names);
  for (const words of wordsIn(draft)) {
    if (!isOf(words.sources, userId)) continue;
    if (words.result === undefined) words.text = FORGOTTEN;
    else words.result = FORGOTTEN;
    if (words.name !== undefined) words.name = MEMBER;
    if (words.speaker !== undefined) words.speaker = MEMBER;
    words.sources = [];
  }
  if (draft.alongside !== undefined) draft.alongside = draft.alongside.filter((id) => id !== userId);
  if (draft.question?.answer?.byUserId === userId) draft.question.answer.text = FORGOTTEN;
}
