import type { Answers } from '../answers/answers.js';
import { explain, type Failed } from '../answers/explain.js';
import { AnswerLost } from '../answers/lost.js';
import type { Execution } from './execute.js';

/**
 * Tells the caller what went wrong.
 * @throws Error for the error boundary when it was a failure and no answer in plain words; an answer that cannot be given is only logged
 */
export async function answerFailure(
  { random, lost }: Pick<Execution, 'random' | 'lost'>,
  failed: Failed,
  answers: Answers,
): Promise<void> {
  const { actor, error } = failed;
  if (error instanceof AnswerLost) return lost.report(actor.channelId, error);
  const { sentence, failure } = explain(failed, random);
  try {
    await answers.refuse(sentence);
  } catch (cause) {
    if (!(cause instanceof AnswerLost)) throw failure ?? cause;
    lost.report(actor.channelId, cause);
  }
  if (failure !== undefined) throw failure;
}
