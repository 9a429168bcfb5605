import { createFairSlots, type FairBounds, type FairClaim, sentenceOf } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { SettlePlace } from '../discord/task-thread.js';
import { type Journal, Superseded } from '../journal/journal.js';
import type { Runs } from '../journal/runs.js';
import { type Ending, isFinal, type Task } from '../task.js';
import { type FinalStatus, finish } from './complete-step.js';
import { conclude } from './publish-result.js';
import { createControl, Interrupted, type RunControl, type RunParts } from './run-control.js';
import { runTask } from './run-task.js';

interface WorkerPoolParts extends RunParts {
  readonly settle: SettlePlace;
}

/** The runners: one for each task that this run carries out. */
export interface WorkerPool {
  /** Lets a task go on until it is over, paused or interrupted. @param recognise it may have said things of which nothing is written */
  launch(id: string, recognise: boolean): void;
  has(id: string): boolean;
  /**
   * Breaks off what the task does: no model call and no tool begins after this. @returns to be called once it is written that the task is over,
   * or that it is not: tells of its end, or lets it go on
   */
  halt(id: string): () => Promise<void>;
  /** Breaks off what can be asked again; a tool that runs is let finish. */
  hold(id: string): void;
  /** Something that it waits for has come. */
  wake(id: string): void;
  /** Resolves when nobody runs the task. */
  ended(id: string): Promise<void>;
  /** Everybody leaves off; what tools do goes on. Resolves when no runner is left. */
  leave(): Promise<void>;
}

const BROKEN = 'Something went wrong inside, and it is in the log.';

export function createWorkerPool(parts: WorkerPoolParts): WorkerPool {
  const { journal, slots, log, settle } = parts;
  const runners = new Map<string, { readonly control: RunControl; readonly end: Promise<void> }>();
  let leaving = false;

  const run = async (id: string, control: RunControl) => {
    try {
      const task = journal.peek(id);
      if (task === undefined) return;
      if (!isFinal(task.status)) await settle(task, control.recognise);
      await runTask(parts, control, id);
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
    await finish(parts, id, 'error', { kind: 'failed', text: sentence ?? BROKEN });
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
    await conclude(parts, control, id).catch((error: unknown) => {
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
    launch,
    has: (id) => runners.has(id),
    halt(id) {
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
    hold: (id) => runners.get(id)?.control.pause(),
    wake: (id) => runners.get(id)?.control.wake(),
    async ended(id) {
      await runners.get(id)?.end;
    },
    async leave() {
      leaving = true;
      for (const { control } of runners.values()) control.leave();
      await Promise.all([...runners.values()].map((runner) => runner.end));
    },
  };
}

/** Ends tasks from outside: a person's stop, a lost right, a limit that passes while a tool runs. */
export interface Ends {
  /** Nothing begins after the call; resolves once the end is written. The channel is told afterwards. @throws Superseded when it was over already */
  end(id: string, status: FinalStatus, ending: Pick<Ending, 'kind' | 'text' | 'byUserId'>): Promise<void>;
  /** Resolves when the channel has been told of all of them. */
  told(): Promise<void>;
}

export function createEnds({ crew, journal }: { crew: WorkerPool; journal: Journal }): Ends {
  const underWay = new Set<Promise<void>>();
  return {
    async end(id, status, ending) {
      const conclude = crew.halt(id);
      try {
        await finish({ journal }, id, status, ending);
      } finally {
        const telling = conclude().finally(() => underWay.delete(telling));
        underWay.add(telling);
      }
    },
    async told() {
      await Promise.all(underWay);
    },
  };
}

/** Lets a paused task go on, or one that was about to pause. @throws Superseded */
export async function resumeTask(
  { journal, crew }: { readonly journal: Journal; readonly crew: WorkerPool },
  id: string,
): Promise<void> {
  const task = await journal.note(id, (draft) => {
    draft.pausing = false;
  });
  // One that was about to pause goes on by itself.
  if (task.status !== 'paused') return;
  await crew.ended(id);
  await journal.move(id, 'queued', (draft) => {
    draft.pausedByHost = false;
  });
  crew.launch(id, true);
}

interface Parts {
  readonly journal: Journal;
  readonly runs: Runs;
  readonly crew: WorkerPool;
  readonly client: Client;
  /** Gets every task that there is, also those that are over. */
  readonly index: { add(task: Task): void };
}

/** Takes over what nobody carries out: after a restart all that was under way, later what another process has left behind. Only where this process is. */
export async function recover({ journal, runs, crew, client, index }: Parts): Promise<void> {
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
    if (isFinal(task.status)) void crew.halt(id)();
    else if (task.status !== 'paused') crew.launch(id, true);
  }
}

/** Whose room a task takes. */
interface Claim {
  readonly id: string;
  readonly userId: string;
  readonly guildId: string | null;
}

/** Room for tasks to work in. Those that find none wait: guilds take turns, then members, then it goes by the order in which they came. */
export interface Slots {
  /** Resolves once there is room, `false` when `signal` aborts first. A task that has room keeps it. */
  acquire(claim: Claim, bounds: () => Promise<FairBounds>, signal: AbortSignal): Promise<boolean>;
  release(id: string): void;
  has(id: string): boolean;
  /** Its place among those that wait, from 1. */
  placeOf(id: string): number | undefined;
  /** Called with the ids of those that wait, when their order has changed. */
  onOrder(listener: (waiting: readonly string[]) => void): void;
}

export function createSlots(): Slots {
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
    async acquire({ id, userId, guildId }, bounds, signal) {
      if (slots.has(id)) return true;
      // In direct messages the bound of the member is enough.
      const guild = guildId ?? `direct:${userId}`;
      return slots.acquire({ id, guild, member: userId, bounds: await bounds() }, signal);
    },
    release: slots.release,
    has: slots.has,
    placeOf(id) {
      const index = order.indexOf(id);
      return index < 0 ? undefined : index + 1;
    },
    onOrder: (listener) => void listeners.add(listener),
  };
}
