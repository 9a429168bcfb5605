import { createFairSlots, type FairBounds, type FairClaim, sentenceOf, t, withinLimit } from '@cinnabar/sdk';
import {
  createControl,
  Interrupted,
  publishMessage,
  type Rules,
  type RunControl,
  rememberSent,
  type TaskContext,
  until,
} from '../context.js';
import type { TaskIndex } from '../discord/incoming-messages.js';
import { prepareThread } from '../discord/message-sender.js';
import { Superseded } from '../journal/journal.js';
import { compact } from '../prompt/prompt.js';
import { type Call, type Ending, isFinal, isWorking, keyOf, pingedIn, type Task } from '../task.js';
import {
  begunCalls,
  endCall,
  type FinalStatus,
  logStep,
  markFinished,
  resultOf,
  unknownCall,
} from './complete-step.js';
import { limitReached, permissionOf, runTask } from './run-task.js';

/** The workers, one for each task that this process executes. */
export function createWorkerPool(context: TaskContext) {
  const { journal, languages, slots, log } = context;
  const workers = new Map<string, { readonly control: RunControl; readonly ended: Promise<void> }>();
  const endings = new Set<Promise<void>>();
  let leaving = false;

  const run = async (id: string, control: RunControl) => {
    try {
      const task = journal.peek(id);
      if (task === undefined) return;
      if (!isFinal(task.status)) await prepareThread(context, task, control.recognise);
      await runTask(context, control, id);
    } catch (error) {
      await onError(id, control, error);
    } finally {
      slots.release(id);
    }
    await publish(id, control);
  };

  const onError = async (id: string, control: RunControl, error: unknown) => {
    if (control.left.aborted || error instanceof Superseded) return;
    const interrupted = error instanceof Interrupted || control.interrupted.aborted;
    if (interrupted && journal.peek(id)?.pausing !== true) return;
    try {
      if (interrupted) {
        await journal.move(id, 'paused', (draft) => {
          draft.pausing = false;
        });
      } else {
        const sentence = sentenceOf(error);
        const text = sentence ?? t('Something went wrong inside, and it is in the log.');
        log[sentence === undefined ? 'error' : 'info']('a task failed', { taskId: id, error });
        await markFinished(context, id, 'error', { kind: 'failed', text });
      }
    } catch (cause) {
      if (!(cause instanceof Superseded))
        log.error('what became of a task could not be written', { taskId: id, error: cause });
    }
  };

  /** Posts the result of an ended task; if that fails, the next start posts it. */
  const publish = async (id: string, control: RunControl) => {
    const task = journal.peek(id);
    if (leaving || task === undefined || !isFinal(task.status)) return;
    await languages
      .speak(task.actor, () => publishResult(context, control, id))
      .catch((error: unknown) => {
        if (!leaving) log.error('the end of a task could not be told', { taskId: id, error });
      });
  };

  const isActive = (id: string): boolean => {
    const task = journal.peek(id);
    return task !== undefined && !isFinal(task.status) && task.status !== 'paused';
  };
  const launch = (id: string, recognise: boolean) => {
    const task = journal.peek(id);
    if (leaving || task === undefined || workers.has(id)) return;
    const control = createControl(recognise);
    const ended = languages
      .speak(task.actor, () => run(id, control))
      .finally(() => {
        workers.delete(id);
        // The pause was withdrawn before the worker had ended.
        if (control.interrupted.aborted && !control.left.aborted && isActive(id)) launch(id, true);
      });
    workers.set(id, { control, ended });
  };

  /** After a stop: posts the result, or lets the task continue if its end could not be written. */
  const afterStop = async (id: string, control: RunControl, ended: Promise<void> | undefined) => {
    await ended;
    const task = journal.peek(id);
    if (task === undefined || leaving) return;
    if (isFinal(task.status)) await publish(id, control);
    else launch(id, true);
  };

  return {
    /** Executes a task until it ends, pauses or is interrupted. @param recognise whether it may have sent messages that were not recorded */
    launch,
    has: (id: string): boolean => workers.has(id),
    /**
     * Ends a task from outside: a member's stop, a lost right, a limit that passes while a tool runs. No model request and no tool begins after the call;
     * resolves when the end is written. The result is posted afterwards. @throws Superseded if the task had ended before
     */
    async end(id: string, status: FinalStatus, ending: Pick<Ending, 'kind' | 'text' | 'byUserId'>): Promise<void> {
      const worker = workers.get(id);
      const control = worker?.control ?? createControl(true);
      control.stop();
      try {
        await markFinished(context, id, status, ending);
      } finally {
        const published = afterStop(id, control, worker?.ended).finally(() => endings.delete(published));
        endings.add(published);
      }
    },
    /** Resolves when the results of all tasks ended from outside are posted. */
    async published(): Promise<void> {
      await Promise.all(endings);
    },
    /** Interrupts all work of a task that can be repeated; a running tool may finish. */
    hold: (id: string): void => workers.get(id)?.control.pause(),
    /** Tells the worker that the event for which the task waits has occurred. */
    wake: (id: string): void => workers.get(id)?.control.wake(),
    /** Resumes a task that is paused or about to pause. @throws Superseded */
    async resume(id: string): Promise<void> {
      const task = await journal.note(id, (draft) => {
        draft.pausing = false;
      });
      // A task that was about to pause continues without a new worker.
      if (task.status !== 'paused') return;
      await workers.get(id)?.ended;
      await journal.move(id, 'queued', (draft) => {
        draft.pausedByHost = false;
      });
      launch(id, true);
    },
    /** Stops all workers; running tools continue. Resolves when no worker is left. */
    async leave(): Promise<void> {
      leaving = true;
      for (const { control } of workers.values()) control.leave();
      await Promise.all([...workers.values()].map(({ ended }) => ended));
    },
  };
}

export type WorkerPool = ReturnType<typeof createWorkerPool>;

/** Claims tasks that no process executes, in guilds of this process: after a restart all unfinished ones, later those that another process has released. */
export async function recover({ journal, client }: TaskContext, workers: WorkerPool, index: TaskIndex): Promise<void> {
  for await (const found of journal.all()) {
    const { id, actor, status, ending } = found;
    index.add(found);
    if (journal.peek(id) !== undefined) continue;
    if (isFinal(status) && ending?.told !== false) continue;
    if (actor.guildId !== null && !client.guilds.cache.has(actor.guildId)) continue;
    const task = await journal.claim(id);
    if (task !== undefined && task.status !== 'paused') workers.launch(id, true);
  }
}

/** Size of the entries that are kept of an ended task, in tokens. */
const KEPT_TOKENS = 4_000;
/** Time for a running tool to end after a stop; afterwards its outcome is unknown. */
const GRACE_MS = 3_000;

/**
 * Posts the result of a task once: what it has done, which calls were halted, what is unknown. Then releases its approvals and slot, and deletes all of its
 * data except what is needed to continue it. @throws Interrupted when the plugin stops before that
 */
async function publishResult(context: TaskContext, control: RunControl, id: string): Promise<void> {
  const { journal, slots, approvals, speaker, board } = context;
  await awaitHalted(context, control, id);
  slots.release(id);
  const ended = journal.peek(id);
  if (ended?.ending === undefined || !isFinal(ended.status) || ended.ending.told) return;
  await approvals?.end(id);
  await speaker.dropQuestion(ended);
  const rules = await context.settings.guild(ended.actor.guildId).get();
  // A member who stopped their own task gets no notice.
  const isToKnow = ended.ending.byUserId !== ended.actor.userId;
  const mention = isToKnow ? pingedIn(ended, rules) : undefined;
  const { text, ids } = await speaker.sayEnding(ended, { recognise: control.recognise, mention });
  if (isToKnow) await speaker.notify(ended, rules, keyOf(ended, 'ending'), 'ended');
  await speaker.reportBack(ended, control.recognise);
  // The board was closed before the final status was shown: the next run shows it, and finds the messages that were sent.
  if (!(await board.finish(ended))) return;
  const over = await journal.amend(id, (draft) => {
    if (draft.ending !== undefined) draft.ending.told = true;
    rememberSent(draft, ids);
    const { step } = draft;
    if (step !== undefined) {
      logStep(draft, step);
      draft.entries.push({ kind: 'step', n: step.n, text: step.text, calls: step.calls });
    }
    Object.assign(draft, compact(draft, KEPT_TOKENS));
    delete draft.step;
    delete draft.outage;
    delete draft.question;
    delete draft.lease;
  });
  await publishMessage(context, over, { key: keyOf(over, 'ending'), kind: 'ending', text }, ids);
}

/** Waits briefly for the running tools, and records their outcomes; without one, that it is unknown. */
async function awaitHalted(context: TaskContext, control: RunControl, id: string): Promise<void> {
  const { journal, clock, signal } = context;
  const task = journal.peek(id);
  const begun = task === undefined ? [] : begunCalls(task);
  if (task?.ending?.told !== false || begun.length === 0) return;
  await Promise.all(begun.map(learn));
  control.inFlight.clear();

  async function learn(call: Call): Promise<void> {
    const inFlight = control.inFlight.get(call.id);
    if (inFlight === undefined && control.begunNow === call.id) {
      const stopped = { outcome: 'failed', result: 'It was stopped before it ran.' } as const;
      return void (await journal.amend(id, endCall(call.id, stopped)));
    }
    const end =
      inFlight === undefined
        ? undefined
        : await until(
            withinLimit(clock, GRACE_MS, inFlight).catch(() => undefined),
            signal,
          );
    const outcome = end?.inTime === true && end.value.status !== 'deferred' ? end.value : undefined;
    const result =
      outcome === undefined
        ? ({ outcome: 'unknown', result: 'It had not ended when the task was stopped.' } as const)
        : resultOf(outcome);
    await journal.amend(id, (draft) => {
      endCall(call.id, result)(draft);
      if (result.outcome === 'unknown') draft.unknowns.push(unknownCall(call, draft.step?.n ?? 0));
    });
  }
}

/** The task that asks for or has a slot, and its member. */
interface Claim {
  readonly id: string;
  readonly userId: string;
  readonly guildId: string | null;
}

/** The slots in which tasks work. When none is free, tasks wait: guilds take turns, then members, then tasks in order of arrival. */
export function createSlots() {
  const listeners = new Set<(waiting: readonly string[]) => void>();
  const slots = createFairSlots<FairClaim & { readonly bounds: FairBounds }>(({ bounds }) => bounds, announce);
  let order: readonly string[] = [];

  function announce(): void {
    const waiting = slots.waiting().map(({ id }) => id);
    if (waiting.join() === order.join()) return;
    order = waiting;
    for (const listener of listeners) listener(order);
  }

  return {
    /** Resolves with `true` when a slot is free; with `false` when `signal` aborts first. A task with a slot keeps it. */
    async acquire(
      { id, userId, guildId }: Claim,
      bounds: () => Promise<FairBounds>,
      signal: AbortSignal,
    ): Promise<boolean> {
      if (slots.has(id)) return true;
      // For direct messages, only the limit per member applies.
      const guild = guildId ?? `direct:${userId}`;
      return slots.acquire({ id, guild, member: userId, bounds: await bounds() }, signal);
    },
    release: slots.release,
    has: slots.has,
    /** The task's place in the queue, from 1; `undefined` if it does not wait. */
    placeOf(id: string): number | undefined {
      const index = order.indexOf(id);
      return index < 0 ? undefined : index + 1;
    },
    /** Calls the listener with the ids of waiting tasks when their order has changed. */
    onOrder: (listener: (waiting: readonly string[]) => void): void => void listeners.add(listener),
  };
}

export type Slots = ReturnType<typeof createSlots>;

export const WATCHDOG_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Interval in which Discord is asked whether the members of waiting tasks are still in the guild. */
const FRESH_MS = 300_000;

/**
 * Creates a check for tasks whose workers wait: those whose member has left or needs a reminder, those that the host has paused, and those whose time runs out
 * during a tool call, a model request or a pause.
 */
export function createWatchdog(context: TaskContext, workers: WorkerPool): () => Promise<void> {
  const { journal, languages, settings, clock, log } = context;
  let freshAt = clock.now();
  const doubted = new Set<string>();

  const check = async (task: Task, fresh: boolean): Promise<void> => {
    const { id, status, actor, pausedByHost } = task;
    const permission = await permissionOf(context, task, fresh);
    const doubtful = permission.is === 'lost' && !permission.certain && !doubted.has(id);
    doubted.delete(id);
    // The next round checks the permission again.
    if (doubtful) return void doubted.add(id);
    if (permission.is === 'lost') return workers.end(id, 'cancelled', { kind: 'gone', text: permission.because });
    if (permission.is === 'given' && pausedByHost) return workers.resume(id);
    const rules = await settings.guild(actor.guildId).get();
    await remind(context, task, rules);
    if (!isWorking(status)) return;
    // Only steps are not compared: the current one may finish, and steps are counted between steps.
    const limit = limitReached({ ...task, stepCount: task.continuedFrom?.steps ?? 0 }, rules, clock.now());
    if (limit === undefined) return;
    await workers.end(id, status === 'tool_executing' ? 'cancelled' : 'completed', { kind: 'limit', text: limit });
  };

  return async () => {
    const fresh = clock.now() - freshAt >= FRESH_MS;
    if (fresh) freshAt = clock.now();
    for (const id of doubted) if (journal.peek(id) === undefined) doubted.delete(id);
    for (const task of journal.live()) {
      if (isFinal(task.status)) continue;
      await languages
        .speak(task.actor, () => check(task, fresh))
        .catch((error: unknown) => {
          if (!(error instanceof Superseded)) log.warn('a task could not be looked after', { taskId: task.id, error });
        });
    }
  };
}

/** Reminds a member once of a pending request, after half of the time for an approval. */
async function remind(context: TaskContext, task: Task, rules: Rules): Promise<void> {
  const { id, status, stepCount, waitsSince, reminded } = task;
  if (status !== 'waiting_approval' && status !== 'waiting_user') return;
  if (waitsSince === undefined || reminded === true) return;
  if (context.clock.now() - waitsSince < (rules.approvalHours * HOUR_MS) / 2) return;
  // Written before it is sent: at most one reminder, also after a crash.
  await context.journal.note(id, (draft) => {
    draft.reminded = true;
  });
  const isQuestion = status === 'waiting_user';
  const text = isQuestion
    ? t('⏰ This task still waits for the answer to its question above.')
    : t('⏰ This task still waits for your decision above. `confirm pending` lists all that wait for you.');
  const key = `reminder:${stepCount}`;
  await context.speaker.say(
    task,
    { key, kind: 'warning', text, mention: pingedIn(task, rules) },
    { recognise: false, signal: context.signal },
  );
  await context.speaker.notify(task, rules, key, isQuestion ? 'question' : 'approval');
}
