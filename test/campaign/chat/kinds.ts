import {
  callTool,
  callToolRaw,
  cutMidway,
  endMidway,
  fail,
  hang,
  type ModelStep,
  refuse,
  say,
} from '@cinnabar/local-models';

/** The model's behaviour in a round, and the expected answer. */
export interface Kind {
  readonly name: string;
  steps(answer: string): readonly ModelStep[];
  /** The model's answer, or the sentence that replaces it. */
  readonly says: 'answer' | RegExp;
}

const BUSY = /^The language model is busy/;
const AWAY = /^The language model cannot be reached at the moment\.$/;
const SLOW = /^The language model took longer than 20 s\.$/;
const NOTHING = /^The language model had nothing to say/;

/** Each request is repeated once, so it needs a step for each attempt. */
const twice = (step: ModelStep) => [step, step];

export const KINDS: readonly [Kind, ...Kind[]] = [
  { name: 'answer', steps: (answer) => [say(answer)], says: 'answer' },
  { name: 'tool', steps: (answer) => [callTool('look', { shelf: 'A' }), say(answer)], says: 'answer' },
  { name: '429', steps: () => twice(fail(429)), says: BUSY },
  { name: '429 once', steps: (answer) => [fail(429), say(answer)], says: 'answer' },
  { name: '500', steps: () => twice(fail(500)), says: AWAY },
  { name: '500 once', steps: (answer) => [fail(500), say(answer)], says: 'answer' },
  { name: 'error in the stream', steps: () => twice(fail(500, { midway: true })), says: AWAY },
  { name: 'hang', steps: () => twice(hang()), says: SLOW },
  { name: 'hang once', steps: (answer) => [hang(), say(answer)], says: 'answer' },
  { name: 'cut stream', steps: () => twice(cutMidway()), says: AWAY },
  { name: 'ended stream', steps: () => twice(endMidway()), says: AWAY },
  {
    name: 'malformed tool call',
    steps: () => [callToolRaw('look', '{"shelf": ')],
    says: /^I couldn't process that request\. Please try again\.$/,
  },
  { name: 'empty text', steps: () => [say('')], says: NOTHING },
  { name: 'thinking only', steps: () => [say('', { thinking: 'What is there to say?' })], says: NOTHING },
  { name: 'refusal', steps: () => [refuse('')], says: /^The language model declined/ },
  { name: 'cut off', steps: (answer) => [say(answer, { stop: 'max_tokens' })], says: 'answer' },
  {
    name: '500 after a tool',
    steps: () => [callTool('look', { shelf: 'A' }), ...twice(fail(500))],
    says: AWAY,
  },
  { name: 'empty after a tool', steps: () => [callTool('look', { shelf: 'A' }), say('')], says: /^On A: a book$/ },
];
/** The circuit breaker is open after several failures. */
export const PAUSED = /^The language model has failed several times in a row/;
