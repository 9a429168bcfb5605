import { sentenceOf } from '@cinnabar/sdk';
import type { SettlePlace } from '../discord/place.js';
import { Superseded } from '../journal/journal.js';
import { isFinal } from '../model/status.js';
import { conclude } from './conclude.js';
import { createControl, Interrupted, type RunControl } from './control.js';
import { finish } from './finish.js';
import type { RunParts } from './parts.js';
import { runTask } from './runner.js';

export interface CrewParts extends RunParts {
  readonly settle: SettlePlace;
}

/** The runners: one for each task that this run carries out. */
export interface Crew {
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

export function createCrew(parts: CrewParts): Crew {
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
