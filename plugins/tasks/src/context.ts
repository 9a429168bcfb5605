import {
  type Access,
  type Accounts,
  type Actor,
  type Approvals,
  type ChannelContexts,
  type Clock,
  type Languages,
  type Llm,
  type Logger,
  type Outcome,
  type Provenance,
  type Random,
  sleep,
  type Tools,
  unlessAborted,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { TaskComponents } from './discord/buttons.js';
import type { OutgoingMessage, Speaker } from './discord/message-sender.js';
import type { StatusBoard } from './discord/status-board.js';
import type { Journal } from './journal/journal.js';
import type { Slots } from './running/worker-pool.js';
import type { TaskSettings } from './settings.js';
import { actorOf, type Task } from './task.js';
import type { createMessages } from './tasks.js';

/** What the plugin's parts are made from. */
export interface BaseContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly languages: Pick<Languages, 'speak'>;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  readonly settings: TaskSettings;
  readonly journal: Journal;
  readonly slots: Slots;
  readonly components: TaskComponents;
}

/** What the plugin's functions work with: the host's services, and its own parts. */
export interface TaskContext extends BaseContext {
  readonly access: Access;
  readonly accounts: Accounts | undefined;
  readonly approvals: Approvals | undefined;
  readonly contexts: ChannelContexts | undefined;
  readonly llm: Llm | undefined;
  readonly provenance: Provenance;
  readonly random: Random;
  readonly tools: Tools;
  readonly speaker: Speaker;
  readonly board: StatusBoard;
  /** What tasks say, for other surfaces. */
  readonly messages: ReturnType<typeof createMessages>;
  /** Whether a model is connected that can work on tasks. */
  hasModel(): boolean;
  /** The bot's name in a guild. */
  selfName(guildId: string | null): string;
  /** What the model calls a person. */
  nameOf(actor: Actor): Promise<string>;
}

/** Thrown when a worker has to leave the task as it is written. */
export class Interrupted extends Error {
  constructor() {
    super('the task was interrupted');
    this.name = 'Interrupted';
  }
}

/** Steers one worker of a task from outside, and keeps what it needs only while it runs. */
export interface RunControl {
  /** Aborts when the task is stopped: it reaches the model's request and the tool that runs. */
  readonly stopped: AbortSignal;
  /** Aborts when the task is stopped, or this run of the plugin ends: tools go on, and their results are not awaited. */
  readonly left: AbortSignal;
  /** Aborts also when the task is to pause: whatever can be repeated is broken off. */
  readonly interrupted: AbortSignal;
  stop(): void;
  leave(): void;
  pause(): void;
  /** Resolves at the next `wake`. Only one waits at a time. */
  woken(): Promise<void>;
  wake(): void;
  /** The tool calls that are under way, by their ids, so that a stop can learn how they ended. */
  readonly underWay: Map<string, Promise<Outcome>>;
  /** The call that this worker began in the write of its step: it was never sent before. */
  begunNow: string | undefined;
  /** When Discord was last asked whether the person is still there. */
  askedAt: number;
  /** After a restart: search the channel for a message before sending it. */
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

/** The unit of work to which the receipt of a task's nth step belongs. */
export const workIdOf = (task: Pick<Task, 'id'>, n: number) => `${task.id}-${n}`;

/** Sends a message of a task, and records that in the same write as `sent`. A message that a previous run has sent is not sent again. */
export async function say(
  context: TaskContext,
  control: RunControl,
  task: Task,
  message: OutgoingMessage,
  sent: (draft: Task, ids: string[]) => void,
): Promise<void> {
  const ids = await context.speaker.say(task, message, { recognise: control.recognise, signal: control.left });
  control.recognise = false;
  await context.journal.note(task.id, (draft) => {
    sent(draft, ids);
    rememberSent(draft, ids);
  });
  await publishMessage(context, task, message, ids);
}

const MOST_SENT = 50;

/** Remembers the task's own messages. */
export function rememberSent(draft: Task, ids: readonly string[]): void {
  draft.lastId = ids.at(-1) ?? draft.lastId ?? '0';
  draft.saidIds = [...(draft.saidIds ?? []), ...ids].slice(-MOST_SENT);
}

/** Adds sent messages to the receipt of their step, where `!why` finds them, and tells other surfaces. */
export async function publishMessage(
  { accounts, messages }: TaskContext,
  task: Task,
  { kind, text }: OutgoingMessage,
  messageIds: readonly string[],
): Promise<void> {
  const receipts = messageIds.length === 0 ? [] : await accounts?.receipts(actorOf(task).channelId, 'tasks');
  const receipt = receipts?.find(({ id }) => id === workIdOf(task, task.stepCount));
  if (receipt !== undefined) {
    await accounts?.record({ ...receipt, messageIds: [...new Set([...receipt.messageIds, ...messageIds])] });
  }
  messages.tell({ taskId: task.id, stepCount: task.stepCount, kind, text, messageIds });
}
