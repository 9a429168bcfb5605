import type { Actor } from './access.js';
import { defineToken } from './token.js';

/** How a task stands. */
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

/** A task for other surfaces: plain data, a copy. Times are milliseconds since 1970. */
export interface TaskInfo {
  readonly id: string;
  /** The requester, and where they asked. */
  readonly actor: Actor;
  /** The plugin or surface that started it: `command`, `chat`. */
  readonly origin: string;
  readonly status: TaskStatus;
  /** The original request. */
  readonly originalPrompt: string;
  /** Where it works: a thread, or the channel itself. */
  readonly channelId: string;
  /** To its status message; `undefined` until there is one. */
  readonly link: string | undefined;
  /** Model calls that were made for it. */
  readonly stepCount: number;
  readonly tokens: number;
  /** US dollars; `null` when a price is not known. */
  readonly cost: number | null;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** How long it has worked: waiting for people and for room does not count. */
  readonly workedMs: number;
  /** Its place among those that wait for room, from 1. */
  readonly place: number | undefined;
  /** Its open question. */
  readonly pendingQuestion: { readonly text: string; readonly choices: readonly string[] } | undefined;
  /** The tool that runs or waits for a decision. */
  readonly currentTool: string | undefined;
  /** The task's own summary, or the reason of its end when it did not end by itself. */
  readonly ending: string | undefined;
  /** Effects of which it is unknown whether they happened. */
  readonly unknowns: readonly string[];
}

/** Something that a task has said. */
export interface TaskMessage {
  readonly taskId: string;
  readonly stepCount: number;
  readonly kind: 'text' | 'update' | 'question' | 'warning' | 'ending';
  readonly text: string;
  /** The Discord messages that carry it. */
  readonly messageIds: readonly string[];
}

export interface TaskRequest {
  /** The goal, at most 4,000 characters. */
  readonly prompt: string;
  /** For whom, and from where: the task acts with this person's rights. */
  readonly actor: Actor;
  /** The surface that starts it: `command`, `chat`, `web`. */
  readonly origin: string;
  /** The message that asked for it: its status is shown as a reply to it. */
  readonly messageId?: string;
}

/** A person's message to a task. */
export interface TaskWords {
  readonly text: string;
  /** The message that says it. When it is deleted, the task does not read it any more. */
  readonly messageId?: string;
}

/** Autonomous tasks, for every surface. Every method throws a `UserError` or `CinnabarError` whose sentence may be shown. */
export interface Tasks {
  /** Resolves once the task is written and can be seen. It runs by itself from then on, also after a restart. */
  start(request: TaskRequest): Promise<TaskInfo>;
  /** Nothing new begins from here on. Resolves once that is written; what it was doing is ended meanwhile. */
  stop(taskId: string, by: Actor): Promise<TaskInfo>;
  /** Takes effect when the tool that runs has ended. */
  pause(taskId: string, by: Actor): Promise<TaskInfo>;
  resume(taskId: string, by: Actor): Promise<TaskInfo>;
  /** Says something to a task that works: it hears it at its next step. */
  say(taskId: string, words: TaskWords, by: Actor): Promise<TaskInfo>;
  /** Goes on with a task that is over, with a new word; its limits count anew. One that works hears the word. */
  continue(taskId: string, words: TaskWords, by: Actor): Promise<TaskInfo>;
  /** Answers the pending question. */
  answer(taskId: string, text: string, by: Actor): Promise<TaskInfo>;
  get(taskId: string): Promise<TaskInfo | undefined>;
  /** Running ones first, then the newest. */
  list(filter: { readonly guildId?: string | null; readonly userId?: string }): Promise<readonly TaskInfo[]>;
  /** Called after every change, once it is written. @returns takes it back */
  onUpdate(listener: (task: TaskInfo) => void): () => void;
  /** Called for everything that a task says, once it has been said. @returns takes it back */
  onMessage(listener: (message: TaskMessage) => void): () => void;
}
export const Tasks = defineToken<Tasks>('cinnabar.tasks');
