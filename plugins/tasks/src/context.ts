import {
  type Access,
  type Accounts,
  type Actor,
  type Approvals,
  type ChannelContexts,
  type Clock,
  hasModel,
  type Languages,
  type Llm,
  type Logger,
  type Outcome,
  type Provenance,
  type Random,
  type Settings,
  sanitizeName,
  sleep,
  TIERS,
  type Tools,
  unlessAborted,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { OutgoingMessage, Speaker } from './discord/message-sender.js';
import type { StatusBoard, TaskComponents } from './discord/status-board.js';
import type { Journal } from './journal/journal.js';
import type { Slots } from './running/worker-pool.js';
import { actorOf, type Task } from './task.js';
import type { createMessages } from './tasks.js';

const whole = (least: number, most: number, fallback: number, what: string) =>
  z.number().int().min(least).max(most).default(fallback).describe(what);

const global = z.object({
  maxRunning: whole(1, 500, 20, 'How many tasks may work at the same time, in all servers together'),
  keepEnded: whole(0, 10_000, 200, 'How many ended tasks are kept for the list and their details'),
});

const guild = z.object({
  maxSteps: whole(1, 500, 50, 'How many times one task may ask the model'),
  maxMinutes: whole(1, 1_440, 30, 'For how many minutes one task may work; waiting for people does not count'),
  stepDelayMs: whole(0, 60_000, 1_000, 'Milliseconds between two steps of a task'),
  maxTokens: whole(1_000, 100_000_000, 1_000_000, 'How many tokens one task may use').meta({ ceiling: 5_000_000 }),
  maxUsd: z
    .number()
    .min(0)
    .max(10_000)
    .default(5)
    .describe('How many US dollars one task may cost')
    .meta({ ceiling: 20 }),
  warnAt: z.number().min(0.1).max(1).default(0.8).describe('At which part of its tokens or dollars a task warns'),
  maxIdenticalCalls: whole(2, 50, 12, 'How often in a row the same call may return the same before a task is ended'),
  maxIdleSteps: whole(2, 100, 8, 'After how many steps that only repeat earlier ones a task is ended'),
  maxErrors: whole(1, 50, 5, 'After how many failures in a row a task is ended'),
  perMember: whole(1, 100, 2, 'How many tasks of one member may work at the same time'),
  perGuild: whole(1, 500, 5, 'How many tasks of this server may work at the same time'),
  maxOpen: whole(1, 1_000, 10, 'How many tasks one member may have open, waiting ones included'),
  maxOpenInGuild: whole(1, 10_000, 200, 'How many tasks of this server may be open, waiting ones included'),
  approvalHours: whole(1, 168, 24, 'For how many hours a request for approval of a task waits for its decision'),
  notify: z
    .enum(['thread', 'dm', 'none'])
    .default('thread')
    .describe(
      'How a member learns that their task has ended or waits for them: a ping in its thread, a direct message',
    ),
  contextTokens: whole(2_000, 1_000_000, 40_000, 'From how many tokens on what a task remembers is compacted'),
  controlTier: z
    .enum(TIERS)
    .default('mod')
    .describe("From which tier on others may stop, pause and look into a member's task"),
  answerTier: z
    .enum(TIERS)
    .default('guildOwner')
    .describe(
      "From which tier on others may answer a task's question, speak to it, and continue it; its tools need their rights, too",
    ),
  threads: z.boolean().default(true).describe('Whether tasks work in threads of their own where they can'),
});

export const settings = { global, guild };
type TaskSettings = Settings<typeof settings>;
/** The settings of a guild; in a direct message the defaults apply. */
export type Rules = z.output<typeof guild>;

/** The parameters from which the plugin's services are built. */
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

/** The context of the plugin's functions: the host's services and its own. */
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
  /** Messages of tasks, for other surfaces. */
  readonly messages: ReturnType<typeof createMessages>;
  /** Whether a model that can work on tasks is configured. */
  hasModel(): boolean;
  /** The bot's name in a guild. */
  selfName(guildId: string | null): string;
  /** The member's name in the model's transcript. */
  nameOf(actor: Actor): Promise<string>;
}

/** @param parts the services that were built before */
export function createTaskContext(parts: Omit<TaskContext, 'hasModel' | 'selfName' | 'nameOf'>): TaskContext {
  const { client, llm } = parts;
  const guildOf = (guildId: string | null) => (guildId === null ? undefined : client.guilds.cache.get(guildId));
  return {
    ...parts,
    hasModel: () => hasModel(llm),
    selfName(guildId) {
      return sanitizeName(guildOf(guildId)?.members.me?.displayName ?? client.user?.displayName ?? 'Assistant');
    },
    async nameOf({ userId, guildId }) {
      const { displayName } = guildOf(guildId)?.members.cache.get(userId) ?? (await client.users.fetch(userId));
      return sanitizeName(displayName) || `member ${userId}`;
    },
  };
}

/** Thrown when a worker must stop without changing the stored task. */
export class Interrupted extends Error {
  constructor() {
    super('the task was interrupted');
    this.name = 'Interrupted';
  }
}

/** Controls one worker of a task from outside. Contains only data that is needed while it runs. */
export interface RunControl {
  /** Aborts when the task is stopped: both the model request and the running tool receive it. */
  readonly stopped: AbortSignal;
  /** Aborts when the task is stopped or this run of the plugin ends: tools continue, but their results are not awaited. */
  readonly left: AbortSignal;
  /** Also aborts when the task is to pause: everything that can be repeated is interrupted. */
  readonly interrupted: AbortSignal;
  stop(): void;
  leave(): void;
  pause(): void;
  /** Resolves at the next `wake`. Supports one caller at a time. */
  woken(): Promise<void>;
  wake(): void;
  /** The running tool calls by id, so that a stop can record their outcomes. */
  readonly inFlight: Map<string, Promise<Outcome>>;
  /** The call that was begun in the write of its step, so that it was not invoked before. */
  begunNow: string | undefined;
  /** When Discord was last asked whether the member is still in the guild, in ms since the Unix epoch. */
  askedAt: number;
  /** Whether to search the channel for a message before it is sent; after a restart. */
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
    inFlight: new Map(),
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
