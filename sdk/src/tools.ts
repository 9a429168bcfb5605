import type { AccessPolicy, Actor, Decision, DecisionReason, Place } from './access.js';
import type { ToolSource } from './ledger.js';
import { defineToken } from './token.js';
import type { Risk, TerminalNames } from './tool-definition.js';

/** Policy of a guild for one tool. `deny` is final. */
export const TOOL_POLICIES = ['allow', 'confirm', 'deny'] as const;
export type ToolPolicy = (typeof TOOL_POLICIES)[number];

export interface ToolFailure {
  readonly code: string;
  /** May be shown to people. */
  readonly message: string;
}

/** How a call ended. */
export type SettledOutcome =
  | {
      readonly status: 'done';
      readonly callId: string;
      readonly output: unknown /** For people and models. */;
      readonly text: string;
      /** The same with images and the like, where the tool has any. */
      readonly content?: readonly ToolContent[];
      /** Where it came from. Absent where that is not known: then the result is for the requester alone. */
      readonly sources?: readonly ToolSource[];
      /**
       * It is for the requester alone: what was read is more private than the place where it was asked for, and they have not chosen to have it told
       * there. The interceptor that held the call gives it to them; a responder must not tell it in that place.
       */
      readonly audience?: 'requester';
    }
  | { readonly status: 'denied'; readonly callId: string; readonly reason: string }
  | { readonly status: 'expired'; readonly callId: string; readonly reason: string }
  | { readonly status: 'failed'; readonly callId: string; readonly error: ToolFailure };

/** Not run yet: `note` tells the model so; `settled` resolves when it has ended. */
export interface DeferredOutcome {
  readonly status: 'deferred';
  readonly callId: string;
  readonly note: string;
  readonly settled: Promise<SettledOutcome>;
}
export type Outcome = SettledOutcome | DeferredOutcome;

/** The default rendering of a call, every argument in full, with the tool's own words where it has them. */
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
  /** All arguments as they may be shown, as in `fields`: secrets are taken out. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The text after a cancellation. */
  readonly cancelled: string;
}

/** Said to a model in place of a result whose `audience` is the requester. */
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
  /** Where it takes effect, when that is not where the actor is: what the admins there have decided holds for it. */
  readonly at: Place | undefined;
  /** The message after which it was made, when the caller has named it. */
  readonly messageId: string | undefined;
  readonly signal: AbortSignal;
  readonly card: CallCard;
  /** Where the request comes from: `chat`, `mcp`. */
  readonly origin: string;
  /** The work that the call is part of, when the caller has named it: a member may approve for all of it. */
  readonly session: ToolSession | undefined;
  /** The calls that were made with it in one response of a model. */
  readonly step: ToolStep | undefined;
  /** The strictest of the guild's policy, the identity's and, where the guild has none, the tool's own. Never `deny`: such a call does not come this far. */
  readonly policy: ToolPolicy | undefined;
  /**
   * The visibility of the read content, compared with the place of the call: `open` to all members there, `private` where not all members there may read it,
   * `unknown` where only the result tells; `nothing` for a call that reads nothing.
   */
  readonly reading: 'nothing' | 'open' | 'private' | 'unknown';
  /** proposed → pending, written before it resolves. Call it before anything is shown. */
  hold(): Promise<void>;
  /**
   * For a call that runs without a decision: as after one, what it returns is for the requester alone (`audience`) where not all members may read
   * it. Otherwise it is shown where it was asked for. Call it before `next`.
   */
  keepPrivate(): void;
  /**
   * pending → approved. `false` when another decision was first.
   * @param share the member who decided wants the result shown where it was asked for, although not all members there may read its sources
   */
  approve(byUserId: string, share?: 'here'): Promise<boolean>;
  /** pending → denied. `false` when another decision was first. */
  deny(byUserId: string, reason: string): Promise<boolean>;
  /** pending → expired. `false` when a decision was first. */
  expire(reason: string): Promise<boolean>;
}

export interface Interceptor {
  readonly name: string;
  /** Lower runs first (outermost). */
  readonly order: number;
  /**
   * Wraps an invocation. Return `next()` to go on, or an outcome of your own. After `hold()`, `next()` runs only once it is approved:
   * it checks access again, claims the call, and runs it at most once.
   */
  handle(call: ToolCall, next: () => Promise<SettledOutcome>): Promise<Outcome>;
}

/** A stretch of work of which calls are part: a task. */
export interface ToolSession {
  readonly id: string;
  /** For people: "this task". */
  readonly name: string;
  /** How long a request for approval waits for its decision, in ms, at most a week. Without it as long as one of a conversation. */
  readonly decideWithinMs?: number;
  /** Whether the request pings the member who decides. */
  readonly mention?: boolean;
}

/** A tool as others see it. */
export interface ToolInfo {
  readonly name: string;
  readonly plugin: string;
  readonly description: string;
  readonly risk: Risk;
  readonly access: AccessPolicy;
  readonly examples: readonly string[];
  /** Whether a call whose end is not known may be made again with the same key. */
  readonly idempotent: boolean;
  /** JSON Schema of the input: 2020-12 made from the zod schema, else the one that the tool brought. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolRequest {
  readonly name: string;
  /** As the model gave them: validated by the host. */
  readonly arguments: unknown;
  readonly actor: Actor;
  readonly signal?: AbortSignal;
  /** Where the request comes from, for the audit: `chat`, `mcp`. */
  readonly origin: string;
  /**
   * Names the call, so that asking again does not run it again: a caller with the same key, tool and arguments, also after a restart and for
   * as long as the ledger keeps the call (30 days, and 10,000 calls), gets what became of the first one; of an output only the first 4,000
   * characters of its text are kept. "Who" is the person in their guild, or the identity. Where the record of a call is damaged or was to be
   * forgotten, they read that its outcome is unknown. A call that was refused before it was proposed is not one yet.
   */
  readonly key?: string;
  /**
   * From 1 (the default). The next attempt of a key is a call of its own, and is refused unless the one before has ended without having run,
   * or its outcome is unknown and the tool is idempotent.
   */
  readonly attempt?: number;
  /** The work that the call is part of, for approvals that hold for all of it. */
  readonly session?: ToolSession;
  /** The state that the calls of one response share: see `inStep`. */
  readonly step?: ToolStep;
  /**
   * Others whose words are answered together with the actor's: it is not made unless each of them might make it there, and what it reads is
   * told only when each of them may read it.
   */
  readonly alongside?: readonly Actor[];
  /** The message after which the call is made: its place in the channel's history. */
  readonly messageId?: string;
  /** The longest text that its result may hold, `RESULT_CHARACTERS` unless given; a longer one is cut, and says how to get the rest. At least 200. */
  readonly mostCharacters?: number;
  /** Told how far the call has come, when the tool says so. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** A call that is over, however it ended: done, refused before it ran, or failed. */
export interface SettledCall {
  readonly id: string;
  /** The tool's name as it was asked for; there may be none of that name. */
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
  /** Why models are not offered it there although the decision allows it: its plugin says that it makes no sense. */
  readonly notOffered?: DecisionReason;
}

export interface Tools {
  list(): readonly ToolInfo[];
  /** The tools that the actor may use there: plugin enabled, access granted, not denied by policy. */
  offered(actor: Actor): Promise<readonly ToolInfo[]>;
  /** The tools that are on where the actor is, also those that the actor may not use: plugin enabled, not denied by policy. The same for every member there. */
  available(actor: Actor): Promise<readonly ToolInfo[]>;
  /** Whether the actor may use a tool there, with every reason; `undefined` when there is no such tool. */
  explain(actor: Actor, name: string): Promise<ExplainedTool | undefined>;
  /** Never throws: everything that can go wrong is an outcome. */
  invoke(request: ToolRequest): Promise<Outcome>;
  /**
   * Calls `listener` with every finished call, before its caller gets the outcome. An error of the listener is logged, and changes nothing.
   * @returns a function that removes the listener
   */
  onSettled(listener: (call: SettledCall) => void | Promise<void>): () => void;
}
export const Tools = defineToken<Tools>('cinnabar.tools');

export interface ToolPolicies {
  get(guildId: string, tool: string): Promise<ToolPolicy | undefined>;
  set(guildId: string, tool: string, policy: ToolPolicy): Promise<void>;
  clear(guildId: string, tool: string): Promise<void>;
  list(guildId: string): Promise<Readonly<Record<string, ToolPolicy>>>;
}
export const ToolPolicies = defineToken<ToolPolicies>('cinnabar.tool-policies');

/** Text, or what it cannot say: the kinds of content that the Model Context Protocol knows. Bytes are base64. */
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

/** How far a call has come. `progress` only ever rises. */
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

/** People's grants for tasks (`ToolSession`). Provided by `confirm`; kept over restarts. */
export interface Approvals {
  /** The grants of a session, oldest first. */
  list(sessionId: string): Promise<readonly Approval[]>;
  /** Takes one back: later calls are asked about again. `false` when there is none of that id. */
  revoke(sessionId: string, approvalId: string): Promise<boolean>;
  /** Takes all back: the task is over. More than once does no harm. */
  end(sessionId: string): Promise<void>;
}
export const Approvals = defineToken<Approvals>('cinnabar.approvals');

/**
 * The calls that a model makes in one response. An interceptor that asks a member about them waits until all of them have been made, so that it can ask once
 * for all.
 */
export interface ToolStep {
  /** Lets the next call of the step be made. Resolves when all of them have been made, or are over. */
  rest(): Promise<void>;
}

/**
 * Runs tasks one after another, each with the step that they share: what the first changes, the second finds. A task that waits for the rest
 * of its step lets the next one begin. Rejects with what the first task that failed threw.
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
      // It is waited for below; until then a failure of another one goes first.
      result.catch(() => undefined);
      await Promise.race([result, rests]);
    }
  } finally {
    complete();
  }
  return Promise.all(results);
}

/** How much text a tool's result may hold where its caller says nothing else: about 5,000 tokens. */
export const RESULT_CHARACTERS = 20_000;

/**
 * The text, or its beginning with a line that says how much is missing and how to get it; never longer than `most`, and never cut inside a
 * character.
 * @param most at least 200
 */
export function boundedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n… (cut: only the beginning of ${text.length} characters is shown. Ask for less at a time, or for a part, to see the rest.)`;
  const kept = text.slice(0, Math.max(0, most - note.length)).replace(/[\uD800-\uDBFF]$/u, '');
  return `${kept}${note}`;
}
