import { loopIn } from './actions.js';
import { asksForRepeat } from './requests.js';
import { analyseSpeech } from './speech.js';
import type { AnalyseRepetition } from './types.js';

/** Who asks to hear something again does not ask for an action to be carried out time and again. */
const REPEATED_AS_ASKED = 2;

/**
 * Looks at an action before it is carried out, and once more, with its words, before they are said. What somebody asked to hear again, and
 * short acknowledgements, are never stopped.
 */
export const analyseRepetition: AnalyseRepetition = ({ completed, proposed, trigger, said }) => {
  if (proposed.text !== undefined) return analyseSpeech(proposed.text, said, trigger);
  const pattern = loopIn(completed, proposed);
  const times = completed.filter(({ action }) => action === proposed.action).length;
  const asked = asksForRepeat(trigger) && times < REPEATED_AS_ASKED;
  return { pattern, shouldStop: pattern !== null && !asked };
};
