import type { z } from 'zod';
import { t } from './text/language.js';

/** What a plugin asks of its own runs in all processes that serve the bot. Where one process serves it, it asks itself. */
export interface QuestionDefinition<B, T> {
  /** Unique within the plugin: lower case letters, digits and `-`. */
  readonly name: string;
  /** Both are checked when they come from another process, which may run another version. */
  readonly input: z.ZodType<B>;
  readonly answer: z.ZodType<T>;
  /** How long others are waited for. @default 10,000 */
  readonly deadlineMs?: number;
  /** Answers for the servers that this process has in `client.guilds`. What it does is done at most once. @param signal aborts when the plugin stops */
  run(input: B, signal: AbortSignal): T | Promise<T>;
}

export interface Question<B, T> {
  /** Asks all. @throws what the own `run` throws; others that do not answer are counted */
  everywhere(input: B): Promise<Answers<T>>;
  /**
   * Asks the process that serves a server; `null`: the one that has what belongs to no server.
   * @throws what `run` throws, if it is a UserError or a CinnabarError; CINNABAR_CLUSTER_NO_ANSWER after the deadline: then it may have been done, or not
   */
  of(guildId: string | null, input: B): Promise<T>;
}

export interface Answers<T> {
  /** The own one is the first. */
  readonly answers: readonly T[];
  /** Parts of the bot that have not answered in time. */
  readonly missing: number;
}

/** What a list says that is not whole; empty when nothing is missing. */
export function missingSentences({ missing }: Pick<Answers<unknown>, 'missing'>): readonly string[] {
  return missing === 0 ? [] : [t('A part of me does not answer at the moment, so this is not everything.')];
}
