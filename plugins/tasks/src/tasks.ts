import {
  type Actor,
  type Logger,
  type TaskInfo,
  type TaskMessage,
  type Tasks,
  type TaskWords,
  t,
  tokensOf,
  UserError,
} from '@cinnabar/sdk';
import type { TaskContext } from './context.js';
import { backgroundOf } from './discord/background.js';
import { prepareThread } from './discord/message-sender.js';
import { Superseded } from './journal/journal.js';
import { type Act, assertMay, assertMayStart } from './permissions.js';
import type { WorkerPool } from './running/worker-pool.js';
import { continueTask, isFinal, labelOf, linkTo, type MemberMessage, newTask, type Task } from './task.js';

const LONGEST_PROMPT = 4_000;
const over = () => t('This task is over. `task continue` goes on with it.');
/** Number of messages that are kept for a task until its next step. */
const MOST_WORDS = 50;

interface Opening {
  /** @throws UserError or CINNABAR_ACCESS_DENIED if the actor may not have another task */
  assertMayOpen(actor: Actor): Promise<void>;
}

/** The service through which every surface, in Discord or elsewhere, acts on tasks. */
export function createTasks(context: TaskContext, workers: WorkerPool): Tasks & Opening {
  const { journal, languages, slots, settings, access, clock } = context;
  const info = (task: Task): TaskInfo => infoOf(task, slots.placeOf(task.id));
  const known = async (id: string): Promise<Task> => {
    const task = await journal.find(id);
    if (task === undefined) throw new UserError(t('There is no such task.'));
    return task;
  };
  const open = async (id: string, by: Actor, act: Act, tier: 'controlTier' | 'answerTier'): Promise<Task> => {
    const task = await known(id);
    await assertMay(context, task, by, tier, act);
    if (isFinal(task.status)) throw new UserError(over());
    if (journal.peek(id) === undefined)
      throw new UserError(t('Another process works on this task; please try again there.'));
    return task;
  };
  /** Checks whether the person may have another task. */
  const assertMayOpen = async (actor: Actor): Promise<void> => {
    await assertMayStart(access, actor);
    if (!context.hasModel()) {
      throw new UserError(
        t('A task needs a language model, and none is connected: the offline one only matches fixed requests.'),
      );
    }
    const { maxOpen, maxOpenInGuild } = await settings.guild(actor.guildId).get();
    const all = journal.live().filter(({ status }) => !isFinal(status));
    const theirs = all.filter((task) => task.actor.userId === actor.userId);
    if (theirs.length >= maxOpen) {
      throw new UserError(
        t('You have {count} tasks open, which is the most there may be. Stop one first.', { count: theirs.length }),
      );
    }
    const { length: here } = all.filter((task) => task.actor.guildId === actor.guildId);
    if (actor.guildId !== null && here >= maxOpenInGuild) {
      throw new UserError(t('{count} tasks of this server are open, which is the most there may be.', { count: here }));
    }
  };
  const wordsBy = async ({ text, messageId }: TaskWords, by: Actor): Promise<MemberMessage> => {
    const said = text.trim().slice(0, LONGEST_PROMPT);
    if (said === '') throw new UserError(t('What shall I tell the task?'));
    const { userId, guildId, channelId } = by;
    const messageIds = messageId === undefined ? {} : { messageIds: [messageId] };
    return {
      userId,
      name: await context.nameOf(by),
      text: said,
      sources: [{ guildId, channelId, userIds: [userId], ...messageIds }],
    };
  };
  const say = async (id: string, words: TaskWords, by: Actor): Promise<TaskInfo> => {
    // Like an answer, a message influences what is done with the member's rights.
    await open(id, by, 'say anything to it', 'answerTier');
    const said = await wordsBy(words, by);
    await unlessOver(
      journal.note(id, (draft) => {
        draft.inbox = [...(draft.inbox ?? []), said].slice(-MOST_WORDS);
      }),
    );
    workers.wake(id);
    return info(await known(id));
  };
  const unlessOver = async <T>(act: Promise<T>): Promise<T> => {
    try {
      return await act;
    } catch (error) {
      throw error instanceof Superseded ? new UserError(over(), { cause: error }) : error;
    }
  };

  return {
    assertMayOpen,
    async start(request) {
      const prompt = request.prompt.trim();
      if (prompt === '') throw new UserError(t('What is the task?'));
      if (prompt.length > LONGEST_PROMPT) {
        throw new UserError(t('A task is described in at most {most, number} characters.', { most: LONGEST_PROMPT }));
      }
      const { actor } = request;
      await assertMayOpen(actor);
      const [name, background] = await Promise.all([context.nameOf(actor), backgroundOf(context, request)]);
      const id = context.random.id();
      const task = await journal.add(newTask(id, { ...request, prompt }, name, background, clock.now()));
      try {
        await languages.speak(actor, () => prepareThread(context, task, false));
      } catch (error) {
        // A member stopped the task as soon as it was visible.
        if (error instanceof Superseded) return info(await known(task.id));
        await journal.remove(task.id);
        if (error instanceof UserError) throw error;
        throw new UserError(t('I could not begin with this: Discord did not take my message.'), { cause: error });
      }
      workers.launch(task.id, false);
      return info(await known(task.id));
    },
    async stop(id, by) {
      const { actor } = await open(id, by, 'stop it', 'controlTier');
      const text = await languages.speak(actor, () => t('Stopped by {member}.', { member: `<@${by.userId}>` }));
      await unlessOver(workers.end(id, 'cancelled', { kind: 'stopped', text, byUserId: by.userId }));
      return info(await known(id));
    },
    async pause(id, by) {
      const task = await open(id, by, 'pause it', 'controlTier');
      if (task.status === 'paused') return info(task);
      await unlessOver(
        journal.note(id, (draft) => {
          draft.pausing = true;
        }),
      );
      workers.hold(id);
      return info(await known(id));
    },
    async resume(id, by) {
      await open(id, by, 'resume it', 'controlTier');
      await unlessOver(workers.resume(id));
      return info(await known(id));
    },
    say,
    async continue(id, words, by) {
      const task = await known(id);
      if (!isFinal(task.status)) return say(id, words, by);
      await assertMay(context, task, by, 'answerTier', 'continue it');
      await assertMayOpen(task.actor);
      const said = await wordsBy(words, by);
      await journal
        .reopen(id, (draft) => continueTask(draft, said))
        .catch((error: unknown) => {
          if (!(error instanceof Superseded)) throw error;
          const notYet = t('This task goes on already, or has only just ended. Please try again in a moment.');
          throw new UserError(notYet, { cause: error });
        });
      workers.launch(id, true);
      return info(await known(id));
    },
    async answer(id, text, by) {
      const task = await open(id, by, 'answer its question', 'answerTier');
      if (task.question === undefined || task.question.answer !== undefined) {
        throw new UserError(t('The task {task} has no open question.', { task: labelOf(task) }));
      }
      await unlessOver(
        journal.note(id, ({ question }) => {
          if (question === undefined) throw new UserError(over());
          question.answer ??= { text, byUserId: by.userId, at: clock.now() };
        }),
      );
      workers.wake(id);
      return info(await known(id));
    },
    async get(id) {
      const task = await journal.find(id);
      return task === undefined ? undefined : info(task);
    },
    async list({ guildId, userId }) {
      const found: Task[] = [];
      for await (const task of journal.all()) {
        if (guildId !== undefined && task.actor.guildId !== guildId) continue;
        if (userId === undefined || task.actor.userId === userId) found.push(task);
      }
      const rank = ({ status }: Task) => (isFinal(status) ? 1 : 0);
      return found.sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt).map(info);
    },
    onUpdate: (listener) => journal.onChange((task) => listener(info(task))),
    onMessage: (listener) => context.messages.add(listener),
  };
}

/** The tasks in the actor's place that they may know of: their own, and those that were requested where they can read. */
export async function readableTasks(
  { access }: Pick<TaskContext, 'access'>,
  tasks: Pick<Tasks, 'list'>,
  actor: Actor,
): Promise<readonly TaskInfo[]> {
  const { guildId, userId } = actor;
  const listed = await tasks.list(guildId === null ? { guildId, userId } : { guildId });
  const readable = new Map<string, boolean>();
  for (const channelId of new Set(listed.map((task) => task.actor.channelId)))
    readable.set(channelId, await access.mayEnter(actor, { guildId, channelId }, ['ReadMessageHistory']));
  return listed.filter((task) => task.actor.userId === userId || readable.get(task.actor.channelId) === true);
}

/** A task for other surfaces. @param place its place in the queue for a slot, from 1 */
function infoOf(task: Task, place: number | undefined): TaskInfo {
  const { id, actor, origin, status, prompt, stepCount, cost, createdAt, endedAt, workedMs, question, ending } = task;
  const asked = question !== undefined && question.answer === undefined && !isFinal(status) ? question : undefined;
  return {
    id,
    actor: { ...actor },
    origin,
    status,
    originalPrompt: prompt,
    channelId: task.workId ?? actor.channelId,
    link: linkTo(task),
    stepCount,
    tokens: tokensOf(task.usage),
    cost,
    startedAt: createdAt,
    endedAt,
    workedMs,
    place: status === 'queued' ? place : undefined,
    pendingQuestion: asked === undefined ? undefined : { text: asked.text, choices: [...asked.choices] },
    currentTool: currentToolOf(task),
    ending: ending?.text,
    unknowns: [...task.unknowns],
  };
}

/** The name of the call that is executed now. */
function currentToolOf({ step, status }: Task): string | undefined {
  if (status !== 'tool_executing' && status !== 'waiting_approval') return undefined;
  return step?.calls.find(({ state }) => state === 'begun')?.name;
}

/** Listeners to the messages of tasks. */
export function createMessages(log: Logger) {
  const listeners = new Set<(message: TaskMessage) => void>();
  return {
    add(listener: (message: TaskMessage) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(message: TaskMessage) {
      for (const listener of listeners) {
        try {
          listener(message);
        } catch (error) {
          log.warn('a listener to what tasks say failed', { taskId: message.taskId, error });
        }
      }
    },
  };
}
