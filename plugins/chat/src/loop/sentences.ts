import type { StopReason } from '@cinnabar/sdk';

export const NO_MODEL =
  'No language model is set up, so I cannot answer. The owner of the bot can load the `llm` plugin and configure one.';
/** For calls whose arguments cannot be read. */
export const MALFORMED = "I couldn't process that request. Please try again.";
/** For a slash command of which every call waits for a confirmation. */
export const HELD = 'Nothing has run yet: it waits for your 👍 on the card below.';
export const CUT_OFF = '-# My answer reached its length limit.';

export function tooManyRounds(rounds: number): string {
  return `I stopped here: ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of tool calls is the limit for one answer.`;
}

/** For the model. */
export function droppedNote(calls: number): string {
  return `(${calls} more ${calls === 1 ? 'call was' : 'calls were'} not run: that is more than one answer may ask for. Do not claim that they ran.)`;
}

/** For a completion without text. */
export function nothingSaid(reason: StopReason): string {
  if (reason === 'refusal') return 'The language model declined to answer this.';
  if (reason === 'max_tokens')
    return 'The language model reached its length limit before it said anything. Please try again.';
  return 'The language model had nothing to say to this. Please try to put it differently.';
}
