import { loopIn } from './actions.js';
import { asksForRepeat } from './requests.js';
import { analyseSpeech } from './speech.js';
import type { AnalyseRepetition } from './types.js';

/**
 * Looks at an action before it is carried out, and once more, with its words, before they are said. What somebody asked to hear again, and
 * short acknowledgements, are never stopped.
 */
export const analyseRepetition: AnalyseRepetition = ({ completed, proposed, trigger, said }) => {
  const { text } = proposed;
  if (text !== undefined) {
    return analyseSpeech(text, said, trigger);
  }
  const pattern = loopIn(completed, proposed);
  return { pattern, shouldStop: pattern !== null && !asksForRepeat(trigger) };
};
