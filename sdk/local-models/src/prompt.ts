import type { ModelStep } from './steps.js';

/** What a request says, whatever the provider's format: enough for a script to decide on an answer. */
export interface PromptView {
  readonly model: string;
  readonly system: string;
  /** Text of the last user message: the lines of one or more speakers. */
  readonly text: string;
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Texts of the tool results at the end of the conversation; empty when it does not end in results. */
  readonly results: readonly string[];
}

/** Decides on the answer to each request that no queued step answers. */
export type ModelScript = (prompt: PromptView) => ModelStep | Promise<ModelStep>;

export interface ScriptOptions {
  /** Answers to the first requests, one each. */
  readonly steps?: readonly ModelStep[];
  /** Answers when the steps are used up. */
  readonly script?: ModelScript;
}

/** A queue of steps with a script behind it. */
export interface StepQueue {
  push(...steps: readonly ModelStep[]): void;
  /** `undefined` when nothing is left. */
  next(prompt: PromptView): Promise<ModelStep | undefined>;
}

export function createStepQueue(options: ScriptOptions): StepQueue {
  const queue = [...(options.steps ?? [])];
  return {
    push: (...steps) => void queue.push(...steps),
    next: async (prompt) => queue.shift() ?? (await options.script?.(prompt)),
  };
}
