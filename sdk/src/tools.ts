import type { AccessPolicy, Actor, Decision, DecisionReason, Place } from './access.js';
import type { ToolSource } from './ledger.js';
import { defineToken } from './token.js';
import type { Risk, TerminalNames } from './tool-definition.js';

/** Policy of a guild for one tool. `deny` is final. */
export const TOOL_POLICIES = ['allow', 'confirm', 'deny'] as const;
export type ToolPolicy = (typeof TOOL_POLICIES)[number];

/** Why a call was refused or failed. */
export interface ToolFailure {
  readonly code: string;
  /** May be shown to people. */
  readonly message: string;
}

/** The outcome of a finished call. */
export type SettledOutcome =
  | {
      readonly status: 'done';
      readonly callId: string;
      readonly output: unknown /** For people and models. */;
      readonly text: string;
      /** The output including images and other content, for tools that have any. */
      readonly content?: readonly ToolContent[];
      /** Sources of the output. Absent when they are not known: then the result is for the requester alone. */
      readonly sources?: readonly ToolSource[];
      /**
       * Set when the result is for the requester alone: its sources are more private than the place of the request, and the requester has not chosen to show it
       * there. The interceptor that held the call delivers it to them; a responder must not post it in that place.
       */
      readonly audience?: 'requester';
    }
  | { readonly status: 'denied'; readonly callId: string; readonly reason: string }
  | { readonly status: 'expired'; readonly callId: string; readonly reason: string }
  | { readonly status: 'failed'; readonly callId: string; readonly error: ToolFailure };

/** The call has not run yet: `note` is the text for the model; `settled` resolves with the final outcome. */
export interface DeferredOutcome {
  readonly status: 'deferred';
  readonly callId: string;
  readonly note: string;
  readonly settled: Promise<SettledOutcome>;
}
export type Outcome = SettledOutcome | DeferredOutcome;

/** The rendering of a call with every argument in full, and with the tool's own texts where it has them. */
export interface CallCard {
  readonly sentence: string;
  readonly action: string;
  readonly terminal: TerminalNames;
  /** Every argument; `said` marks those that the sentence already shows. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly value: unknown;
    readonly said: boolean;
  }[];
  /** All arguments as they may be shown, as in `fields`: without secrets. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The text after a cancellation. */
  readonly cancelled: string;
}

/** Sent to a model in place of a result whose `audience` is the requester. */
export const FOR_REQUESTER_ALONE =
  'It ran. What it returned is more private than this channel, so it was given to the member who asked alone: it is not known here.';

/** A call on its way through the interceptors. Its arguments are validated, frozen and hashed: exactly these run. */
export interface ToolCall {
  readonly id: string;
  readonly tool: ToolInfo;
  readonly input: Readonly<Record<string, unknown>>;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The place where it takes effect, when that differs from the actor's place: the decisions of the admins there apply. */
  readonly at: Place | undefined;
  /** The message after which it was made, when the request named one. */
  readonly messageId: string | undefined;
  readonly signal: AbortSignal;
  readonly card: CallCard;
  /** Where the request comes from: `chat`, `mcp`. */
  readonly origin: string;
  /** The work that the call is part of, when the request named one: a member may approve calls for all of it. */
  readonly session: ToolSession | undefined;
  /** The other calls of the same response of a model. */
  readonly step: ToolStep | undefined;
  /**
   * The strictest of the guild's policy, the identity's and, where the guild has none, the tool's own. Never `deny`: such a call is refused before the
   * interceptors.
   */
  readonly policy: ToolPolicy | undefined;
  /**
   * The visibility of the content that it reads, compared with the place of the call: `open` to all members there, `private` where not all members there may
   * read it, `unknown` where only the result determines it; `nothing` for a call that reads nothing.
   */
  readonly reading: 'nothing' | 'open' | 'private' | 'unknown';
  /** proposed → pending; resolves once that is written. Call it before anything is shown. */
  hold(): Promise<void>;
  /**
   * For a call that runs without a decision: makes the result private to the requester (`audience`) where not all members may read it, as after a decision.
   * Without this call, the result is shown in the place of the request. Call it before `next`.
   */
  keepPrivate(): void;
  /**
   * pending → approved. `false` when another decision was first.
   * @param share set when the member who decided wants the result shown in the place of the request, although not all members there may read its sources
   */
  approve(byUserId: string, share?: 'here'): Promise<boolean>;
  /** pending → denied. `false` when another decision was first. */
  deny(byUserId: string, reason: string): Promise<boolean>;
  /** pending → expired. `false` when a decision was first. */
  expire(reason: string): Promise<boolean>;
}

/** A step between a tool call and its execution, such as confirmation or a budget. */
export interface Interceptor {
  readonly name: string;
  /** Lower runs first (outermost). */
  readonly order: number;
  /**
   * Wraps an invocation. Return `next()` to continue, or an outcome of your own. After `hold()`, `next()` runs only once the call is approved: it checks access
   * again, claims the call, and runs it at most once.
   */
  handle(call: ToolCall, next: () => Promise<SettledOutcome>): Promise<Outcome>;
}

/** A unit of work with several calls: a task. */
export interface ToolSession {
  readonly id: string;
  /** For people: "this task". */
  readonly name: string;
  /** How long a request for approval waits for its decision, in ms, at most a week. By default as long as in a conversation. */
  readonly decideWithinMs?: number;
  /** Whether the request pings the member who decides. */
  readonly mention?: boolean;
}

/** A tool as other plugins and models see it. */
export interface ToolInfo {
  readonly name: string;
  readonly plugin: string;
  readonly description: string;
  readonly risk: Risk;
  readonly access: AccessPolicy;
  readonly examples: readonly string[];
  /** Whether a call with an unknown outcome may be repeated with the same key. */
  readonly idempotent: boolean;
  /** JSON Schema (2020-12) of the input: made from the zod schema, or declared by the tool. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool call to make. */
export interface ToolRequest {
  readonly name: string;
  /** The model's arguments, which the host validates. */
  readonly arguments: unknown;
  readonly actor: Actor;
  readonly signal?: AbortSignal;
  /** Where the request comes from, for the audit: `chat`, `mcp`. */
  readonly origin: string;
  /**
   * Idempotency key. A request of the same caller (the person in their guild, or the identity) with the same key, tool and arguments does not run the call
   * again: it gets the outcome of the first one, also after a restart, for as long as the ledger keeps the call (30 days, and 10,000 calls); of an output only
   * the first 4,000 characters of its text are kept. When the record of the call is damaged, or a member's data in it was deleted, the outcome is `unknown`. A
   * call that was refused before it was proposed does not count.
   */
  readonly key?: string;
  /**
   * Attempt number, from 1 (the default). The next attempt of a key is a separate call, and is refused unless the previous one ended without having run, or its
   * outcome is unknown and the tool is idempotent.
   */
  readonly attempt?: number;
  /** The work that the call is part of, for approvals that hold for all of it. */
  readonly session?: ToolSession;
  /** The state shared by the calls of one response: see `inStep`. */
  readonly step?: ToolStep;
  /**
   * Other people whose messages are answered together with the actor's: the call is refused unless each of them may make it there, and its result is shown only
   * when each of them may read its sources.
   */
  readonly alongside?: readonly Actor[];
  /** The message after which the call is made: its place in the channel's history. */
  readonly messageId?: string;
  /** Maximum length of the text of the result, at least 200; `RESULT_CHARACTERS` by default. A longer text is cut, with a note on how to get the rest. */
  readonly mostCharacters?: number;
  /** Called with the progress of the call, when the tool reports it. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** A call that has ended: done, refused before it ran, or failed. */
export interface SettledCall {
  readonly id: string;
  /** The requested tool name; a tool of that name may not exist. */
  readonly tool: string;
  /** The validated input; for an invalid one, the original. */
  readonly input: unknown;
  readonly actor: Actor;
  readonly origin: string;
  readonly messageId: string | undefined;
  readonly outcome: SettledOutcome;
}

/** Whether an actor may use a tool. */
export interface ExplainedTool extends Decision {
  /** Why models are not offered the tool there although the decision allows it: `ToolDefinition.offered` returned `false`. */
  readonly notOffered?: DecisionReason;
}

/** The registered tools. Every call goes through the same access checks, interceptors and ledger. Provided by the host. */
export interface Tools {
  list(): readonly ToolInfo[];
  /** The tools that the actor may use there: plugin enabled, access granted, not denied by policy. */
  offered(actor: Actor): Promise<readonly ToolInfo[]>;
  /**
   * The tools that are enabled in the actor's place, including those that the actor may not use: plugin enabled, not denied by policy. The same for every
   * member there.
   */
  available(actor: Actor): Promise<readonly ToolInfo[]>;
  /** Whether the actor may use a tool there, with every reason; `undefined` when there is no such tool. */
  explain(actor: Actor, name: string): Promise<ExplainedTool | undefined>;
  /** Invokes a tool. Never throws: every failure is an outcome. */
  invoke(request: ToolRequest): Promise<Outcome>;
  /**
   * Calls `listener` with every finished call, before its caller gets the outcome. An error of the listener is logged, and changes nothing.
   * @returns a function that removes the listener
   */
  onSettled(listener: (call: SettledCall) => void | Promise<void>): () => void;
}
export const Tools = defineToken<Tools>('cinnabar.tools');

/** The tool policies that admins have set, by guild. `get` resolves with `undefined` for a tool without one. Provided by the host. */
export interface ToolPolicies {
  get(guildId: string, tool: string): Promise<ToolPolicy | undefined>;
  set(guildId: string, tool: string, policy: ToolPolicy): Promise<void>;
  clear(guildId: string, tool: string): Promise<void>;
  list(guildId: string): Promise<Readonly<Record<string, ToolPolicy>>>;
}
export const ToolPolicies = defineToken<ToolPolicies>('cinnabar.tool-policies');

/** Text or other content, as in the Model Context Protocol. Bytes are base64. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: ToolResource }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

/** A document in a result, with its text or its bytes. */
export interface ToolResource {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** The progress of a call. `progress` never decreases. */
export interface ToolProgress {
  readonly progress: number;
  /** The final value of `progress`, if known. */
  readonly total?: number;
  /** For people: "reading page 3". */
  readonly message?: string;
}

/** A member's grant for the rest of a task: matching calls run without a confirmation. */
export interface Approval {
  readonly id: string;
  readonly tool: string;
  /** The allowed calls, as plain text for people: `send_message where channel is "news"`, `roll_dice with any arguments`. */
  readonly pattern: string;
  /** The user who allowed it. */
  readonly byUserId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Members' grants for tasks (`ToolSession`), which survive restarts. Provided by `confirm`. */
export interface Approvals {
  /** The grants of a session, oldest first. */
  list(sessionId: string): Promise<readonly Approval[]>;
  /** Revokes a grant: later calls need a confirmation again. `false` when there is none with that id. */
  revoke(sessionId: string, approvalId: string): Promise<boolean>;
  /** Revokes all grants of a session, when its task has ended. A second call does nothing. */
  end(sessionId: string): Promise<void>;
}
export const Approvals = defineToken<Approvals>('cinnabar.approvals');

/**
 * The calls that a model makes in one response. An interceptor that asks a member for confirmations waits until all of them have been made, so that it can ask
 * once for all.
 */
export interface ToolStep {
  /** Lets the next call of the step begin. Resolves when all calls have been made, or have ended. */
  rest(): Promise<void>;
}

/**
 * Runs tasks one after another, with one shared step: each task sees the changes of the previous ones. A task that calls `step.rest()` lets the next one begin.
 * Rejects with the error of the first task that failed.
 * @example const outcomes = await inStep(requests.map((request) => (step) => tools.invoke({ ...request, step })));
 */
export async function inStep<T>(tasks: readonly ((step: ToolStep) => Promise<T>)[]): Promise<readonly T[]> {
  let complete: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    complete = resolve;
  });
  let goOn: () => void = () => undefined;
  const step: ToolStep = {
    rest() {
      goOn();
      return all;
    },
  };
  const results: Promise<T>[] = [];
  try {
    for (const task of tasks) {
      const rests = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const result = task(step);
      results.push(result);
      // `Promise.all` below rethrows its error; until then it must not count as an unhandled rejection.
      result.catch(() => undefined);
      await Promise.race([result, rests]);
    }
  } finally {
    complete();
  }
  return Promise.all(results);
}

/** Maximum length of the text of a tool's result by default: about 5,000 tokens. */
export const RESULT_CHARACTERS = 20_000;

/**
 * The text, or its beginning with a note on how much is missing and how to get it; never longer than `most`, and never cut inside a surrogate pair.
 * @param most at least 200
 */
export function boundedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n… (cut: only the beginning of ${text.length} characters is shown. Ask for less at a time, or for a part, to see the rest.)`;
  const kept = text.slice(0, Math.max(0, most - note.length)).replace(/[\uD800-\uDBFF]$/u, '');
  return `${kept}${note}`;
}
