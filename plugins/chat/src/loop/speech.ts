import { type LlmCompletion, type LlmRequest, sentenceOf, turnEndOf } from '@cinnabar/sdk';
import { createLiveAnswer, type LiveAnswer, type LiveOptions } from './sending/live.js';
import type { Manner, Voice } from './sending/voice.js';

/** What is said in the course of a turn, whether it grows while the model writes or comes at once. */
export interface Speech {
  /**
   * Runs one request to the model; what it writes is shown as it comes, where that is wanted. `undefined` when it failed and that has been
   * said in place of what could be seen already.
   */
  listen(complete: (onText: LlmRequest['onText']) => Promise<LlmCompletion>): Promise<LlmCompletion | undefined>;
  /** Says a text: the one that is growing already is made exact. Resolves with its last message's id; nothing is said of an empty one. */
  say(text: string, manner?: Manner): Promise<string | undefined>;
  /** Ends what is growing, because a member wants no answer any more: it is removed, or stays as it is where it was stopped. */
  giveUp(): Promise<void>;
}

export interface SpeechOptions extends LiveOptions {
  readonly live: boolean;
  /** Whether what can be seen of an answer stays when it is stopped. */
  readonly leavesStopped: boolean;
}

export function createSpeech(voice: Voice, options: SpeechOptions): Speech {
  let growing: LiveAnswer | undefined;

  const giveUp = async () => {
    const answer = growing;
    growing = undefined;
    if (answer?.shown !== true) return;
    if (options.leavesStopped && turnEndOf(options.signal) === 'stopped') await answer.leave();
    else await answer.finish('');
  };

  return {
    giveUp,
    async listen(complete) {
      if (!options.live) return complete(undefined);
      const answer = createLiveAnswer(voice, options);
      growing = answer;
      try {
        return await complete(answer.onText);
      } catch (error) {
        if (turnEndOf(options.signal) !== undefined) await giveUp();
        growing = undefined;
        if (!answer.shown || turnEndOf(options.signal) !== undefined) throw error;
        const sentence = sentenceOf(error);
        // Half an answer is not left behind as if it were a whole one.
        await answer.finish(sentence ?? '', 'notice');
        if (sentence === undefined) throw error;
        options.log.info('an answer broke off', { error });
        return undefined;
      }
    },
    async say(text, manner) {
      const answer = growing;
      growing = undefined;
      if (answer?.shown === true) return answer.finish(text, manner);
      return text === '' ? undefined : voice.say(text, manner);
    },
  };
}
