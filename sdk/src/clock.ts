import { defineToken } from './token.js';

/** The host's time. Plugins never read the system clock themselves, so that tests and the console can move time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `task` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, task: () => void): () => void;
}

/** Sources of randomness, injected so that a test can replace them. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** A new unique id, sortable by time, safe in file names. */
  id(): string;
}

export const Clock = defineToken<Clock>('cinnabar.clock');
export const Random = defineToken<Random>('cinnabar.random');

/** A document that is due. */
export interface DueDocument<T> {
  /** As `Collection.entries` has it. */
  readonly key: string;
  readonly value: T;
  /** When it fell due, in milliseconds since 1970. */
  readonly dueAt: number;
  /** How long ago that was: more than some seconds when the bot was down, the plugin was off in the guild, or an earlier attempt failed. */
  readonly lateMs: number;
  /** Starts at 1; counted in this process. */
  readonly attempt: number;
}

/** How the documents of a collection are handled when they are due. */
export interface ScheduleDefinition<T> {
  /** When it is due, in milliseconds since 1970; `undefined` when it is not planned. */
  dueAt(value: T): number | undefined;
  /** The guild that it belongs to: it waits while the plugin is off there, or the bot is not in it. Without it, documents belong to no guild. */
  guildOf?(value: T): string | null;
  /**
   * Called for each document that is due, one after another for a key. When it resolves, the document is deleted, unless it has changed so that it is due
   * later: for what repeats, save the next time; a time that has passed is due at once. When it rejects, it is called again, after 30 s at first and then with
   * growing delays of up to an hour; also when the process ended during the call. So an effect that must not happen twice has to be sent with `sendOnce`, or
   * recorded in the document before it is done.
   */
  run(due: DueDocument<T>): unknown;
}
