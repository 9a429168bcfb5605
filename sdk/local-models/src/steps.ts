/** A tool call that the scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The arguments as the model wrote them, right or wrong; wins over `arguments`. */
  readonly raw?: string;
  /** Made up when left out. */
  readonly id?: string;
}

export interface ScriptedUsage {
  /** All of the prompt, cached or not. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheCreationTokens?: number;
  /** Of `cacheCreationTokens`, those kept for an hour. */
  readonly cacheCreation1hTokens?: number;
}

export interface ReplyStep {
  readonly kind: 'reply';
  readonly text?: string;
  /** Reasoning, in the provider's own form. */
  readonly thinking?: string;
  readonly calls?: readonly ScriptedCall[];
  /** `tool_use` when there are calls, `end_turn` otherwise, unless given. */
  readonly stop?: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'refusal';
  readonly usage?: ScriptedUsage;
  /**
   * What happens after half of the answer: the connection is cut, or nothing more is sent until `release()`, or a streamed answer simply ends, as behind a
   * proxy that gives up.
   */
  readonly midway?: 'cut' | 'hang' | 'end' | undefined;
}

export interface FailStep {
  readonly kind: 'fail';
  readonly status: number;
  readonly message?: string;
  /** Sent as `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** The provider's error code, such as `insufficient_quota`. */
  readonly code?: string;
  /** The parameter that the provider objects to. */
  readonly param?: string;
  /** A streamed request gets 200 and then the error as an event. */
  readonly midway?: boolean;
}

/** No response until `release()`; then `then` is used. */
export interface HangStep {
  readonly kind: 'hang';
  readonly then: ReplyStep | FailStep;
}

export type ModelStep = ReplyStep | FailStep | HangStep;
type More = Omit<ReplyStep, 'kind' | 'text' | 'calls'>;

/** The model answers with text. */
export function say(text: string, more: More = {}): ReplyStep {
  return { ...more, kind: 'reply', text };
}

/** The model calls one tool, or several. */
export function callTools(calls: readonly ScriptedCall[], more: More & { readonly text?: string } = {}): ReplyStep {
  return { ...more, kind: 'reply', calls };
}

/** The model calls a tool. */
export function callTool(name: string, args: Readonly<Record<string, unknown>> = {}): ReplyStep {
  return callTools([{ name, arguments: args }]);
}

/** The model calls a tool with these arguments as raw text: for invalid JSON, or JSON that is not an object. */
export function callToolRaw(name: string, raw: string): ReplyStep {
  return callTools([{ name, raw }]);
}

/** The model declines, in the provider's own form of refusal. */
export function refuse(text: string): ReplyStep {
  return { kind: 'reply', text, stop: 'refusal' };
}

/** The provider answers with an error. */
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

/** The content of a request in any provider's format: enough for a script to decide on an answer. */
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
