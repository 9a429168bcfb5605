import {
  type Actor,
  NO_USAGE,
  TASK_STATUSES,
  type TaskRequest,
  type TaskStatus,
  tokensOf,
  toolSource,
  z,
} from '@cinnabar/sdk';
import type { Rules } from './context.js';

const text = z.string();
const input = z.record(z.string(), z.unknown());

/**
 * One call of the model. `open`: not begun. `begun`: written before its execution, so that after a crash it does not count as "not run". `done`: `result` is
 * what the model reads.
 */
const call = z.object({
  id: text,
  name: text,
  input,
  /** Why the arguments could not be read. */
  unreadable: text.exactOptional(),
  state: z.enum(['open', 'begun', 'done']),
  /** Counts from 1; the host treats each attempt as a separate call. */
  attempt: z.number().int(),
  /** When its request for approval ends, in ms since the Unix epoch; stays the same after a restart. */
  decideBy: z.number().exactOptional(),
  /** When a `wait` ends, in ms since the Unix epoch. */
  wakeAt: z.number().exactOptional(),
  /** `held`: not executed, because its response also asked the user. `told`: one of the task's own controls. */
  outcome: z.enum(['done', 'failed', 'denied', 'expired', 'unknown', 'told', 'held']).exactOptional(),
  result: text.exactOptional(),
  /** The sources of the result, which only people who may read all of them may see. */
  sources: z.array(toolSource).exactOptional(),
});
export type Call = z.output<typeof call>;

/** The model's latest response, and how far it was executed. */
const step = z.object({
  n: z.number().int(),
  text,
  /** The messages with `text`; absent until it was sent. */
  textIds: z.array(text).exactOptional(),
  calls: z.array(call),
});
export type Step = z.output<typeof step>;

/** A message of a person to the task. */
const words = z.object({ userId: text, name: text, text, sources: z.array(toolSource) });
export type MemberMessage = z.output<typeof words>;

/** The conversation when the task began. */
const background = z.object({
  /** The instructions of the server's configuration. */
  instructions: text.exactOptional(),
  /** Oldest first: the messages, then the message that was replied to, and attachments. */
  lines: z.array(z.object({ speaker: text, text, sources: z.array(toolSource) })),
});
export type Background = z.output<typeof background>;

/** A completed step, a message of the loop to the model, or a message of a person. */
const entry = z.discriminatedUnion('kind', [
  step.pick({ n: true, text: true, calls: true }).extend({ kind: z.literal('step') }),
  z.object({ kind: z.literal('note'), text }),
  words.extend({ kind: z.literal('said') }),
]);
export type Entry = z.output<typeof entry>;

/** The summary of a compacted step, with its sources if there are any. */
const line = z.union([text, z.object({ text, sources: z.array(toolSource) })]);
export type Line = z.output<typeof line>;

const question = z.object({
  text,
  choices: z.array(text),
  /** The question's messages; absent until it was sent. */
  messageIds: z.array(text).exactOptional(),
  answer: z.object({ text, byUserId: text, at: z.number() }).exactOptional(),
});
export type Question = z.output<typeof question>;

/**
 * `complete`: by the model. `limit`: a limit was reached. `stopped`: by a person. `breaker`: by the loop detector. `gone`: its member has lost the right to it.
 */
const ENDINGS = ['complete', 'limit', 'stopped', 'breaker', 'failed', 'gone'] as const;
const ending = z.object({
  kind: z.enum(ENDINGS),
  /** The result, or why the task ended. */
  text,
  byUserId: text.exactOptional(),
  /** The calls that were running at the end, with their outcomes if known. */
  halted: z.array(text),
  /** Whether the result has been posted. */
  told: z.boolean(),
});
export type Ending = z.output<typeof ending>;

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheCreationTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheCreation1hTokens: z.number(),
});

/** All persistent data of a task, from which a worker can continue. */
const taskSchema = z.object({
  id: text,
  actor: z.object({
    userId: text,
    guildId: text.nullable(),
    channelId: text,
    identity: text.exactOptional(),
  }),
  /** The member's name in the model's transcript. */
  requester: text,
  origin: text,
  prompt: text,
  /** The message that requested the task. */
  messageId: text.exactOptional(),
  background: background.exactOptional(),
  status: z.enum(TASK_STATUSES),
  createdAt: z.number(),
  /** When its status was last written, in ms since the Unix epoch: `workedMs` does not include the time since then. */
  changedAt: z.number(),
  endedAt: z.number().exactOptional(),
  workedMs: z.number(),
  /** The status message, and the channel or thread in which the task works. */
  statusId: text.exactOptional(),
  workId: text.exactOptional(),
  /** The latest message in that channel: after a restart, the task's own messages are searched for after it. */
  lastId: text.exactOptional(),
  /** The task's latest messages: a reply to one of them is for the task. */
  saidIds: z.array(text).exactOptional(),
  /** Messages of people to the task, which its next step reads. */
  inbox: z.array(words).exactOptional(),
  /** Other members whose messages the task has read: its tool calls need their rights, too. */
  alongside: z.array(text).exactOptional(),
  /** The usage at its latest continuation after an end: limits count from there. */
  continuedFrom: z
    .object({ steps: z.number(), workedMs: z.number(), tokens: z.number(), cost: z.number() })
    .exactOptional(),
  /** Number of continuations after an end. */
  continued: z.number().int().exactOptional(),
  stepCount: z.number().int(),
  usage,
  cost: z.number().nullable(),
  warned: z.boolean(),
  /** Set while the model cannot be reached: since when, and the number of failed requests. */
  outage: z.object({ since: z.number(), failures: z.number().int(), told: z.boolean() }).exactOptional(),
  /** Set while the current step waits for its member: since when, and whether they were reminded. */
  waitsSince: z.number().exactOptional(),
  reminded: z.boolean().exactOptional(),
  /** The compacted steps: one line each. */
  scratchpad: z.array(line),
  entries: z.array(entry),
  step: step.exactOptional(),
  question: question.exactOptional(),
  unknowns: z.array(text),
  /**
   * State of the loop detector: the latest call with its result and number of repetitions; steps without progress; calls and model requests that failed in a
   * row; hashes of the latest calls with results, and of texts.
   */
  circles: z.object({
    lastCall: text,
    identical: z.number(),
    idle: z.number(),
    errors: z.number(),
    failures: z.number(),
    seen: z.array(text).exactOptional(),
  }),
  /** Calls for the button Details. */
  log: z.array(
    z.object({
      n: z.number(),
      tool: text,
      input: text,
      outcome: text,
      result: text,
      sources: z.array(toolSource).exactOptional(),
    }),
  ),
  /** Set while it is about to pause, when the running tool has ended. */
  pausing: z.boolean(),
  /** Paused because the plugin was disabled in the guild; it resumes when the plugin is enabled again. */
  pausedByHost: z.boolean(),
  ending: ending.exactOptional(),
  /** The id of the plugin's run that executes it. */
  lease: text.exactOptional(),
});
export type Task = z.output<typeof taskSchema>;

/** A document for each task, so that a transition is one write. `version` is the version of the schema. */
export const tasksCollection = { scope: 'global', version: 1, schema: taskSchema, personal: 'handled' } as const;

/** A key of something that is sent once for each end: a continued task has another end. */
export const keyOf = (task: Pick<Task, 'continued'>, what: string): string =>
  task.continued === undefined ? what : `${what}:${task.continued}`;

/** The name of a task for people. */
export const labelOf = ({ id }: Pick<Task, 'id'>): string => id.slice(-5);

/** Transitions of every live task: it can be queued again after a restart, or after it has waited for a person. */
const ALWAYS = ['queued', 'paused', 'cancelled', 'error'] as const;

/**
 * The transitions from each status. A status without any is final. Limits end a task as `completed`, errors as `error`, a member's stop or the loss of their
 * rights as `cancelled`.
 */
export const TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  queued: ['running', 'paused', 'cancelled', 'error'],
  running: [...ALWAYS, 'thinking', 'tool_executing', 'waiting_user', 'waiting_time', 'completed'],
  thinking: [...ALWAYS, 'running', 'tool_executing', 'completed'],
  tool_executing: [...ALWAYS, 'running', 'waiting_approval'],
  waiting_approval: [...ALWAYS, 'running'],
  waiting_user: [...ALWAYS, 'running'],
  waiting_time: [...ALWAYS, 'running'],
  paused: ['queued', 'cancelled', 'error'],
  completed: [],
  cancelled: [],
  error: [],
};

export const isFinal = (status: TaskStatus): boolean => TRANSITIONS[status].length === 0;

/** Keeping the status is always allowed, for changes of other fields. */
export const mayBecome = (from: TaskStatus, to: TaskStatus): boolean =>
  (from === to && !isFinal(from)) || TRANSITIONS[from].includes(to);

/** Whether a task works in this status; in others it waits, and the time is not counted. */
export const isWorking = (status: TaskStatus): boolean =>
  status === 'running' || status === 'thinking' || status === 'tool_executing';

/** The actor of a task: its member, in the channel where it works. */
export function actorOf({ actor, workId }: Pick<Task, 'actor' | 'workId'>): Actor {
  return { ...actor, channelId: workId ?? actor.channelId };
}

/** A task that has not started. */
export function newTask(
  id: string,
  { prompt, actor, origin, messageId }: TaskRequest,
  requester: string,
  background: Background,
  now: number,
): Task {
  return {
    id,
    actor: { ...actor },
    requester,
    origin,
    prompt,
    ...(messageId === undefined ? {} : { messageId }),
    background,
    status: 'queued',
    createdAt: now,
    changedAt: now,
    workedMs: 0,
    stepCount: 0,
    usage: { ...NO_USAGE },
    cost: 0,
    warned: false,
    scratchpad: [],
    entries: [],
    unknowns: [],
    circles: { ...NO_CIRCLES },
    log: [],
    pausing: false,
    pausedByHost: false,
  };
}

const NO_CIRCLES: Task['circles'] = { lastCall: '', identical: 0, idle: 0, errors: 0, failures: 0 };

/** Queues an ended task again with a new message of a member. Its limits count from here; the numbers of its steps continue. */
export function continueTask(draft: Task, said: MemberMessage): void {
  const { stepCount, workedMs, usage, cost, ending } = draft;
  draft.continuedFrom = { steps: stepCount, workedMs, tokens: tokensOf(usage), cost: cost ?? 0 };
  draft.continued = (draft.continued ?? 0) + 1;
  draft.circles = { ...NO_CIRCLES };
  draft.warned = false;
  const text = `The task had ended: ${ending?.text ?? ''} Now it goes on with this.`;
  draft.entries.push({ kind: 'note', text });
  addMemberMessage(draft, said);
  delete draft.question;
  delete draft.outage;
}

/** Moves the waiting messages to the entries that the model reads, and resets the loop detector. */
export function readInbox(draft: Task): void {
  for (const words of draft.inbox ?? []) addMemberMessage(draft, words);
  draft.circles = { ...NO_CIRCLES };
  delete draft.inbox;
}

function addMemberMessage(draft: Task, words: MemberMessage): void {
  draft.entries.push({ kind: 'said', ...words });
  if (words.userId === draft.actor.userId) return;
  draft.alongside = [...new Set([...(draft.alongside ?? []), words.userId])];
}

/** A link to the task's status message. */
export function linkTo({ actor, statusId }: Pick<Task, 'actor' | 'statusId'>): string | undefined {
  if (statusId === undefined) return undefined;
  return `https://discord.com/channels/${actor.guildId ?? '@me'}/${actor.channelId}/${statusId}`;
}

/** The member whom messages in the task's thread ping. Direct messages notify without a ping. */
export function pingedIn({ actor }: Pick<Task, 'actor'>, { notify }: Pick<Rules, 'notify'>): string | undefined {
  return notify === 'thread' && actor.guildId !== null ? actor.userId : undefined;
}
