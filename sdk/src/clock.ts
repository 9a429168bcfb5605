import { defineToken } from './token.js';

/** Time as the host sees it. Plugins never read the wall clock themselves, so that tests and the console can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `task` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, task: () => void): () => void;
}

/** Sources of chance, injected so that a test can fix them. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** A new unique id, sortable by time, safe in file names. */
  id(): string;
}

export const Clock = defineToken<Clock>('cinnabar.clock');
export const Random = defineToken<Random>('cinnabar.random');
