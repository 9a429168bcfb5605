import { FORGOTTEN, isOf, type PersonalData, t } from '@cinnabar/sdk';
import type { TaskContext } from '../context.js';
import { type MayShow, redactForPeople } from '../prompt/redaction.js';
import type { WorkerPool } from '../running/worker-pool.js';
import { type Call, isFinal, type Task } from '../task.js';
import { Superseded } from './journal.js';

/** A member's tasks. One that is under way ends when it is to be forgotten. */
export function personalTasks({ journal, languages, provenance }: TaskContext, workers: WorkerPool): PersonalData {
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
          const text = t('Whoever asked for this had their data deleted.');
          return workers.end(id, 'cancelled', { kind: 'gone', text });
        };
        await languages.speak(actor, end).catch((error: unknown) => {
          if (!(error instanceof Superseded)) throw error;
        });
      }
      await workers.published();
      for (const { id } of await theirs(userId)) await journal.remove(id);
      for await (const task of journal.all()) {
        // Another process's is changed there, when it is over.
        const isOurs = journal.peek(task.id) !== undefined || isFinal(task.status);
        if (isOurs && isIn(task, userId)) await journal.amend(task.id, (draft) => strip(draft, userId));
      }
    },
  };
}

type Words = { result?: string; text?: string; name?: string; speaker?: string; sources?: Call['sources'] };

/** What others' tasks keep that holds a person's words: results of tools, answers to questions, the lines made of them. */
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

function strip(draft: Task, userId: string): void {
  for (const words of wordsIn(draft)) {
    if (!isOf(words.sources, userId)) continue;
    if (words.result === undefined) words.text = FORGOTTEN;
    else words.result = FORGOTTEN;
    if (words.name !== undefined) words.name = 'a member';
    if (words.speaker !== undefined) words.speaker = 'a member';
    words.sources = [];
  }
  if (draft.alongside !== undefined) draft.alongside = draft.alongside.filter((id) => id !== userId);
  if (draft.question?.answer?.byUserId === userId) draft.question.answer.text = FORGOTTEN;
}
