import { escapeRegExp, FORGOTTEN, isOf, type PersonalData, sanitizeName, t } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { TaskContext } from '../context.js';
import { type MayShow, redactForPeople } from '../prompt/redaction.js';
import type { WorkerPool } from '../running/worker-pool.js';
import { type Call, isFinal, type Task } from '../task.js';
import { Superseded } from './journal.js';

/** A member's tasks. One that is under way ends when it is to be forgotten. */
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
        const names = namesOf(client, task, userId);
        if (isOurs && (isIn(task, userId) || isMentionedIn(task, names)))
          await journal.amend(task.id, (draft) => strip(draft, userId, names));
      }
    },
  };
}

/** What a person is called in the conversation before a task: where others mention them, their name stands in the place of the mention. */
function namesOf(client: Client, { actor, background }: Task, userId: string): readonly string[] {
  const member = client.guilds.cache.get(actor.guildId ?? '')?.members.cache.get(userId);
  const known = [member?.displayName, client.users.cache.get(userId)?.displayName];
  const spoke = (background?.lines ?? []).filter(({ sources }) => isOf(sources, userId)).map(({ speaker }) => speaker);
  const names = [...spoke, ...known.map((name) => sanitizeName(name ?? ''))].filter((name) => name !== '');
  // Of one name that begins with another, the longer one is meant.
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
