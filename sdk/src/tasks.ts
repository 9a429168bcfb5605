import type { Actor } from './access.js';
import { defineToken } from './token.js';

/** The states of a task. */
export const TASK_STATUSES = [
  'queued',
  'running',
  'thinking',
  'tool_executing',
  'waiting_approval',
  'waiting_user',
  'waiting_time',
  'paused',
  'completed',
  'cancelled',
  'error',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A task as other plugins see it: plain data, a copy. Times are milliseconds since 1970. */
export interface TaskInfo {
  readonly id: string;
  /** The requester, and the place of the request. */
  readonly actor: Actor;
  /** The plugin or surface that started it: `command`, `chat`. */
  readonly origin: string;
  readonly status: TaskStatus;
  /** The original request. */
  readonly originalPrompt: string;
  /** The thread in which the task works, or the channel itself. */
  readonly channelId: string;
  /** Link to its status message; `undefined` until there is one. */
  readonly link: string | undefined;
  /** Number of model calls made for it. */
  readonly stepCount: number;
  readonly tokens: number;
  /** US dollars; `null` when a price is not known. */
  readonly cost: number | null;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** How long it has worked, in milliseconds, without the time that it waited for people or for a worker slot. */
  readonly workedMs: number;
  /** Its position among the tasks that wait for a worker slot, from 1. */
  readonly place: number | undefined;
  /** The question to a member that waits for an answer. */
  readonly pendingQuestion: { readonly text: string; readonly choices: readonly string[] } | undefined;
  /** The tool that runs, or waits for a confirmation. */
  readonly currentTool: string | undefined;
  /** The task's own summary, or the reason why it was ended. */
  readonly ending: string | undefined;
  /** Effects with an unknown outcome: they may or may not have happened. */
  readonly unknowns: readonly string[];
}

/** A text that a task has posted. */
export interface TaskMessage {
  readonly taskId: string;
  readonly stepCount: number;
  readonly kind: 'text' | 'update' | 'question' | 'warning' | 'ending';
  readonly text: string;
  /** Ids of the Discord messages with the text. */
  readonly messageIds: readonly string[];
}

/** A task to start. */
export interface TaskRequest {
  /** The goal, at most 4,000 characters. */
  readonly prompt: string;
  /** The requester and the place of the request: the task acts with this person's rights. */
  readonly actor: Actor;
  /** The surface that starts it: `command`, `chat`, `web`. */
  readonly origin: string;
  /** The message with the request: the status message replies to it. */
  readonly messageId?: string;
}

/** A person's message to a task. */
export interface TaskWords {
  readonly text: string;
  /** The message with the text. When it is deleted, the task does not read the text any more. */
  readonly messageId?: string;
}

/** Autonomous tasks. Every method throws a `UserError` or `CinnabarError` whose sentence may be shown. */
export interface Tasks {
  /** Starts a task. Resolves once it is written and has a status message. The task then runs by itself, also after a restart. */
  start(request: TaskRequest): Promise<TaskInfo>;
  /** Stops a task: no step or tool call begins after this. Resolves once that is written; the running one is aborted meanwhile. */
  stop(taskId: string, by: Actor): Promise<TaskInfo>;
  /** Pauses a task, once its running tool has ended. */
  pause(taskId: string, by: Actor): Promise<TaskInfo>;
  resume(taskId: string, by: Actor): Promise<TaskInfo>;
  /** Sends a text to a running task, which reads it in its next step. */
  say(taskId: string, words: TaskWords, by: Actor): Promise<TaskInfo>;
  /** Continues a task that has ended, with another text; its limits are counted from zero. A running task reads the text in its next step, as with `say`. */
  continue(taskId: string, words: TaskWords, by: Actor): Promise<TaskInfo>;
  /** Answers the pending question. */
  answer(taskId: string, text: string, by: Actor): Promise<TaskInfo>;
  get(taskId: string): Promise<TaskInfo | undefined>;
  /** Running tasks first, then the newest. */
  list(filter: { readonly guildId?: string | null; readonly userId?: string }): Promise<readonly TaskInfo[]>;
  /** Calls `listener` after every change, once it is written. @returns a function that removes the listener */
  onUpdate(listener: (task: TaskInfo) => void): () => void;
  /** Calls `listener` with every text that a task has posted. @returns a function that removes the listener */
  onMessage(listener: (message: TaskMessage) => void): () => void;
}
export const Tasks = defineToken<Tasks>('cinnabar.tasks');
