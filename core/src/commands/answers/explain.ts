import type { Actor } from '@cinnabar/sdk';
import { type Random, sentenceOf } from '@cinnabar/sdk';

/** What to tell a person about something that was thrown, and what the error boundary should log and count. */
export interface Explanation {
  readonly sentence: string;
  /** `undefined` when it was no failure but an answer in plain words. */
  readonly failure: Error | undefined;
}

/** Errors meant for people are their own sentence; any other gets a reference that leads to its log entry. */
export function explain(error: unknown, what: string, actor: Actor, random: Random): Explanation {
  const sentence = sentenceOf(error);
  if (sentence !== undefined) return { sentence, failure: undefined };
  const reference = random.id();
  return {
    sentence: `Something went wrong while doing that. It has been logged (reference \`${reference}\`).`,
    failure: new Error(
      `${what} failed (reference ${reference}, user ${actor.userId}, channel ${actor.channelId}): ${messageOf(error)}`,
      { cause: error },
    ),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
