import {
  type Access,
  type Accounts,
  type Actor,
  type Approvals,
  type Clock,
  type Llm,
  type Logger,
  type Outcome,
  type Provenance,
  sleep,
  type TaskMessage,
  type Tools,
  unlessAborted,
} from '@cinnabar/sdk';
import type { ShowTyping } from '../discord/channels.js';
import type { Speaker } from '../discord/message-sender.js';
import type { Notices } from '../discord/notices.js';
import type { StatusBoard } from '../discord/status-board.js';
import type { Journal } from '../journal/journal.js';
import type { TaskSettings } from '../settings.js';
import type { Slots } from './worker-pool.js';

/** What a runner works with. */
export interface TaskContext {
  readonly journal: Journal;
  readonly slots: Slots;
  readonly speaker: Speaker;
  readonly notices: Notices;
  readonly showTyping: ShowTyping;
  readonly board: StatusBoard;
  readonly settings: TaskSettings;
  readonly llm: Llm | undefined;
  readonly tools: Tools;
  readonly access: Access;
  readonly provenance: Pick<Provenance, 'mayShow' | 'mayHave'>;
  readonly accounts: Accounts | undefined;
  readonly approvals: Approvals | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  /** Whether a person is still in the guild; asks Discord. */
  isStillThere(actor: Actor): Promise<boolean>;
  /** What the bot is called where the task is. */
  selfName(guildId: string | null): string;
  /** Tells other surfaces what a task has said. */
  tell(message: TaskMessage): void;
}

/** The runner leaves the task as it is written: somebody else has the next word. */
export class Interrupted extends Error {
  constructor() {
    super('the task was interrupted');
    this.name = 'Interrupted';
  }
}

/** By which one runner is told to leave off. */
export interface RunControl {
  /** Aborts when the task is stopped: it reaches the model's request and the tool that runs. */
  readonly stopped: AbortSignal;
  /** Aborts when it is stopped, or this run of the plugin ends: tools go on, nobody waits for them. */
  readonly left: AbortSignal;
  /** Aborts also when it is to pause: whatever can be asked again is broken off. */
  readonly interrupted: AbortSignal;
  stop(): void;
  leave(): void;
  pause(): void;
  /** Resolves at the next `wake`. Only one waits at a time. */
  woken(): Promise<void>;
  wake(): void;
  /** The tool calls that are under way, by their ids, so that a stop can learn how they ended. */
  readonly underWay: Map<string, Promise<Outcome>>;
  /** The call that was begun in the write of its step, by this runner: nobody has asked for it before. */
  begunNow: string | undefined;
  /** When Discord was last asked whether the person is still there. */
  askedAt: number;
  /** What may have been said before a crash is looked for before it is said. */
  recognise: boolean;
}

export function createControl(recognise: boolean): RunControl {
  const [stopped, left, interrupted] = [new AbortController(), new AbortController(), new AbortController()];
  let wake = () => {};
  return {
    stopped: stopped.signal,
    left: left.signal,
    interrupted: interrupted.signal,
    stop() {
      for (const controller of [stopped, left, interrupted]) controller.abort();
    },
    leave() {
      for (const controller of [left, interrupted]) controller.abort();
    },
    pause: () => interrupted.abort(),
    woken: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    wake: () => wake(),
    underWay: new Map(),
    begunNow: undefined,
    askedAt: Number.NEGATIVE_INFINITY,
    recognise,
  };
}

/** Waits for `work`. @throws Interrupted as soon as `signal` aborts */
export async function until<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const end = await unlessAborted(work, signal);
  if (!end.inTime) throw new Interrupted();
  return end.value;
}

/** Resolves after `delayMs`. @throws Interrupted as soon as `signal` aborts */
export async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0 && !(await sleep(clock, delayMs, signal))) throw new Interrupted();
}
