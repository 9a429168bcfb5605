/** A tool call that the scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The arguments as raw text, valid or not; replaces `arguments`. */
  readonly raw?: string;
  /** Default: generated. */
  readonly id?: string;
}

export interface ScriptedUsage {
  /** All tokens of the prompt, cached or not. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheCreationTokens?: number;
  /** The part of `cacheCreationTokens` that is cached for an hour. */
  readonly cacheCreation1hTokens?: number;
}

export interface ReplyStep {
  readonly kind: 'reply';
  readonly text?: string;
  /** Reasoning, in the provider's format. */
  readonly thinking?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Default: `tool_use` with calls, otherwise `end_turn`. */
  readonly stop?: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'refusal';
  readonly usage?: ScriptedUsage;
  /**
   * Event after half of the response. `cut`: the connection is cut. `hang`: the rest follows `release()`. `end`: a streamed response ends without its final
   * event, as behind a proxy that gives up.
   */
  readonly midway?: 'cut' | 'hang' | 'end' | undefined;
}

export interface FailStep {
  readonly kind: 'fail';
  readonly status: number;
  readonly message?: string;
  /** Value of the header `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** The provider's error code, such as `insufficient_quota`. */
  readonly code?: string;
  /** The parameter to which the error refers. */
  readonly param?: string;
  /** Responds to a streamed request with 200 and then the error as an event. */
  readonly midway?: boolean;
}

/** Sends no response until `release()`; then `then` is used. */
export interface HangStep {
  readonly kind: 'hang';
  readonly then: ReplyStep | FailStep;
}

export type ModelStep = ReplyStep | FailStep | HangStep;
type More = Omit<ReplyStep, 'kind' | 'text' | 'calls'>;

/** A response with text. */
export function say(text: string, more: More = {}): ReplyStep {
  return { ...more, kind: 'reply', text };
}

/** A response with one or more tool calls. */
export function callTools(calls: readonly ScriptedCall[], more: More & { readonly text?: string } = {}): ReplyStep {
  return { ...more, kind: 'reply', calls };
}

/** A response with one tool call. */
export function callTool(name: string, args: Readonly<Record<string, unknown>> = {}): ReplyStep {
  return callTools([{ name, arguments: args }]);
}

/** A response with one tool call whose arguments are raw text: for invalid JSON, or JSON that is not an object. */
export function callToolRaw(name: string, raw: string): ReplyStep {
  return callTools([{ name, raw }]);
}

/** A refusal by the model, in the provider's format. */
export function refuse(text: string): ReplyStep {
  return { kind: 'reply', text, stop: 'refusal' };
}

/** An error of the provider. */
export function fail(status: number, more: Omit<FailStep, 'kind' | 'status'> = {}): FailStep {
  return { ...more, kind: 'fail', status };
}

/** No response until `release()`, or until the client gives up. */
export function hang(then: ReplyStep | FailStep = say('Sorry for the wait.')): HangStep {
  return { kind: 'hang', then };
}

/** Half of the answer is sent, then the connection is cut. */
export function cutMidway(step: ReplyStep = say('This answer is cut in the middle of its sentence.')): ReplyStep {
  return { ...step, midway: 'cut' };
}

/** Half of the answer is sent; the rest follows `release()`. */
export function hangMidway(step: ReplyStep = say('This answer pauses in the middle of its sentence.')): ReplyStep {
  return { ...step, midway: 'hang' };
}

/** Half of a streamed answer is sent, then the response ends normally. */
export function endMidway(): ReplyStep {
  return { ...say('This answer ends in the middle of its sentence.'), midway: 'end' };
}

/** The content of a request in any provider's format, for scripts. */
export interface PromptView {
  readonly model: string;
  readonly system: string;
  /** Text of the last user message: lines of one or more speakers. */
  readonly text: string;
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Texts of the tool results at the end of the conversation; empty when it does not end in results. */
  readonly results: readonly string[];
}

/** Chooses the response to each request for which no step is queued. */
export type ModelScript = (prompt: PromptView) => ModelStep | Promise<ModelStep>;

export interface ScriptOptions {
  /** Responses to the first requests, in order. */
  readonly steps?: readonly ModelStep[];
  /** Chooses the responses once the steps are used up. */
  readonly script?: ModelScript;
}

/** A queue of steps, and a script for the requests after them. */
interface StepQueue {
  push(...steps: readonly ModelStep[]): void;
  /** `undefined` when no step is left. */
  next(prompt: PromptView): Promise<ModelStep | undefined>;
}

export function createStepQueue(options: ScriptOptions): StepQueue {
  const queue = [...(options.steps ?? [])];
  return {
    push: (...steps) => void queue.push(...steps),
    next: async (prompt) => queue.shift() ?? (await options.script?.(prompt)),
  };
}
