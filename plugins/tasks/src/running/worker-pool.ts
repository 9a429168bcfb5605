import { createFairSlots, type FairBounds, type FairClaim, sentenceOf } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { SettlePlace } from '../discord/task-thread.js';
import { type Journal, Superseded } from '../journal/journal.js';
import type { Runs } from '../journal/runs.js';
import { type Ending, isFinal, type Task } from '../task.js';
import { type FinalStatus, markFinished } from './complete-step.js';
import { publishResult } from './publish-result.js';
import { createControl, Interrupted, type RunControl, type TaskContext } from './run-control.js';
import { runTask } from './run-task.js';

interface WorkerPoolParts extends TaskContext {
  readonly settle: SettlePlace;
}

const BROKEN = 'Something went wrong inside, and it is in the log.';

/** The runners: one for each task that this run carries out. */
export function createWorkerPool(context: WorkerPoolParts) {
  const { journal, slots, log, settle } = context;
  const runners = new Map<string, { readonly control: RunControl; readonly end: Promise<void> }>();
  let leaving = false;

  const run = async (id: string, control: RunControl) => {
    try {
      const task = journal.peek(id);
      if (task === undefined) return;
      if (!isFinal(task.status)) await settle(task, control.recognise);
      await runTask(context, control, id);
    } catch (error) {
      await onError(id, control, error);
    } finally {
      slots.release(id);
    }
    await end(id, control);
  };

  const onError = async (id: string, control: RunControl, error: unknown) => {
    if (control.left.aborted) return;
    if (error instanceof Superseded) return;
    const task = journal.peek(id);
    const interrupted = error instanceof Interrupted || control.interrupted.aborted;
    if (interrupted && task?.pausing !== true) return;
    try {
      if (interrupted) await pauseNow(id);
      else await fail(id, error);
    } catch (cause) {
      if (!(cause instanceof Superseded))
        log.error('what became of a task could not be written', { taskId: id, error: cause });
    }
  };

  const fail = async (id: string, error: unknown) => {
    const sentence = sentenceOf(error);
    log[sentence === undefined ? 'error' : 'info']('a task failed', { taskId: id, error });
    await markFinished(context, id, 'error', { kind: 'failed', text: sentence ?? BROKEN });
  };

  const pauseNow = async (id: string) => {
    await journal.move(id, 'paused', (draft) => {
      draft.pausing = false;
    });
  };

  /** What cannot be told now is told at the next start. */
  const end = async (id: string, control: RunControl) => {
    const task = journal.peek(id);
    if (leaving || task === undefined || !isFinal(task.status)) return;
    await publishResult(context, control, id).catch((error: unknown) => {
      if (!leaving) log.error('the end of a task could not be told', { taskId: id, error });
    });
  };

  const goesOn = (id: string): boolean => {
    const task = journal.peek(id);
    return task !== undefined && !isFinal(task.status) && task.status !== 'paused';
  };
  const launch = (id: string, recognise: boolean) => {
    if (leaving || runners.has(id)) return;
    const control = createControl(recognise);
    const ended = run(id, control).finally(() => {
      runners.delete(id);
      // Somebody has thought better of a pause before it came to it.
      if (control.interrupted.aborted && !control.left.aborted && goesOn(id)) launch(id, true);
    });
    runners.set(id, { control, end: ended });
  };

  return {
    /** Lets a task go on until it is over, paused or interrupted. @param recognise it may have said things of which nothing is written */
    launch,
    has: (id: string): boolean => runners.has(id),
    /**
     * Breaks off what the task does: no model call and no tool begins after this. @returns to be called once it is written that the task is over,
     * or that it is not: tells of its end, or lets it go on
     */
    halt(id: string): () => Promise<void> {
      const runner = runners.get(id);
      const control = runner?.control ?? createControl(true);
      control.stop();
      return async () => {
        await runner?.end;
        const task = journal.peek(id);
        if (task === undefined || leaving) return;
        if (isFinal(task.status)) await end(id, control);
        else launch(id, true);
      };
    },
    /** Breaks off what can be asked again; a tool that runs is let finish. */
    hold: (id: string): void => runners.get(id)?.control.pause(),
    /** Something that it waits for has come. */
    wake: (id: string): void => runners.get(id)?.control.wake(),
    /** Resolves when nobody runs the task. */
    async ended(id: string): Promise<void> {
      await runners.get(id)?.end;
    },
    /** Everybody leaves off; what tools do goes on. Resolves when no runner is left. */
    async leave(): Promise<void> {
      leaving = true;
      for (const { control } of runners.values()) control.leave();
      await Promise.all([...runners.values()].map((runner) => runner.end));
    },
  };
}

export type WorkerPool = ReturnType<typeof createWorkerPool>;

/** Ends tasks from outside: a person's stop, a lost right, a limit that passes while a tool runs. */
export function createEnds({ workers, journal }: { workers: WorkerPool; journal: Journal }) {
  const underWay = new Set<Promise<void>>();
  return {
    /** Nothing begins after the call; resolves once the end is written. The channel is told afterwards. @throws Superseded when it was over already */
    async end(id: string, status: FinalStatus, ending: Pick<Ending, 'kind' | 'text' | 'byUserId'>): Promise<void> {
      const conclude = workers.halt(id);
      try {
        await markFinished({ journal }, id, status, ending);
      } finally {
        const telling = conclude().finally(() => underWay.delete(telling));
        underWay.add(telling);
      }
    },
    /** Resolves when the channel has been told of all of them. */
    async told(): Promise<void> {
      await Promise.all(underWay);
    },
  };
}

export type Ends = ReturnType<typeof createEnds>;

/** Lets a paused task go on, or one that was about to pause. @throws Superseded */
export async function resumeTask(
  { journal, workers }: { readonly journal: Journal; readonly workers: WorkerPool },
  id: string,
): Promise<void> {
  const task = await journal.note(id, (draft) => {
    draft.pausing = false;
  });
  // One that was about to pause goes on by itself.
  if (task.status !== 'paused') return;
  await workers.ended(id);
  await journal.move(id, 'queued', (draft) => {
    draft.pausedByHost = false;
  });
  workers.launch(id, true);
}

interface Parts {
  readonly journal: Journal;
  readonly runs: Runs;
  readonly workers: WorkerPool;
  readonly client: Client;
  /** Gets every task that there is, also those that are over. */
  readonly index: { add(task: Task): void };
}

/** Takes over what nobody carries out: after a restart all that was under way, later what another process has left behind. Only where this process is. */
export async function recover({ journal, runs, workers, client, index }: Parts): Promise<void> {
  await runs.beat();
  const isFree = await runs.free();
  for await (const found of journal.all()) {
    const { id, actor, status, ending } = found;
    index.add(found);
    if (journal.peek(id) !== undefined) continue;
    if (isFinal(status) && ending?.told !== false) continue;
    if (actor.guildId !== null && !client.guilds.cache.has(actor.guildId)) continue;
    const task = await journal.claim(id, isFree);
    if (task === undefined) continue;
    if (isFinal(task.status)) void workers.halt(id)();
    else if (task.status !== 'paused') workers.launch(id, true);
  }
}

/** Whose room a task takes. */
interface Claim {
  readonly id: string;
  readonly userId: string;
  readonly guildId: string | null;
}

/** Room for tasks to work in. Those that find none wait: guilds take turns, then members, then it goes by the order in which they came. */
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
    /** Resolves once there is room, `false` when `signal` aborts first. A task that has room keeps it. */
    async acquire(
      { id, userId, guildId }: Claim,
      bounds: () => Promise<FairBounds>,
      signal: AbortSignal,
    ): Promise<boolean> {
      if (slots.has(id)) return true;
      // In direct messages the bound of the member is enough.
      const guild = guildId ?? `direct:${userId}`;
      return slots.acquire({ id, guild, member: userId, bounds: await bounds() }, signal);
    },
    release: slots.release,
    has: slots.has,
    /** Its place among those that wait, from 1. */
    placeOf(id: string): number | undefined {
      const index = order.indexOf(id);
      return index < 0 ? undefined : index + 1;
    },
    /** Called with the ids of those that wait, when their order has changed. */
    onOrder: (listener: (waiting: readonly string[]) => void): void => void listeners.add(listener),
  };
}

export type Slots = ReturnType<typeof createSlots>;
