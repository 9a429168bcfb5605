import type { z } from 'zod';
import type { AccessPolicy, Actor, Place } from './access.js';
import type { ToolSource } from './ledger.js';
import type { Logger } from './observability.js';
import type { ToolContent, ToolProgress } from './tools.js';

export type ToolInput = z.ZodObject;
export type Risk = 'read' | 'write' | 'destructive';

/** The names on a terminal-style card. */
export interface TerminalNames<Argument extends string = string> {
  readonly program: string;
  readonly operation: string;
  readonly record: string;
  /** By default an argument keeps its name. */
  readonly keys?: { readonly [K in Argument]?: string };
}

/** The texts of one call, for a tool whose texts depend on stored data. */
export interface CallDescription<I> {
  readonly sentence: string;
  readonly said?: readonly (keyof I & string)[];
  readonly action?: string;
  readonly cancelled?: string;
  /** Omitted arguments with the values that the call would use: the card shows them as well. */
  readonly assumed?: Partial<I>;
}

/** The presentation of a call for people. Omitted parts have a default that shows every argument in full. */
export interface ToolPresentation<I, O> {
  /** First person, without the final stop: "I'll add V to your party". Plain text: it is escaped where it is shown. */
  sentence?(input: I): string;
  /** Arguments that `sentence` already shows in full, so that a plain card need not repeat them. */
  readonly said?: readonly (keyof I & string)[];
  /** "Add character to party roster" */
  readonly action?: string;
  /** Names on terminal-style cards: PARTY_MANAGER, ADD_CHARACTER, CHARACTER_DATA; `keys` renames arguments there, `{ gear_preferences: 'gear' }`. */
  readonly terminal?: TerminalNames<keyof I & string>;
  /** Argument labels: `{ gear_preferences: 'Gear Preferences' }`; by default made from the name. */
  readonly labels?: { readonly [K in keyof I & string]?: string };
  /** "✓ V has been added to your party!" Also the result for a model. Markdown: escape members' texts with `plainText`. */
  success?(input: I, output: O): string;
  /** The result with content other than text, for callers that support it; by default only the text. */
  content?(input: I, output: O): readonly ToolContent[];
  /** "Cancelled adding V to your party." Plain text, as `sentence`. */
  cancelled?(input: I): string;
  /** Texts that depend on the member or on stored data, in place of the ones above. Called once, when the call is made. */
  describe?(input: I, place: { readonly actor: Actor }): Promise<CallDescription<I>>;
}

/** The context of `run`, beside its validated input. */
export interface ToolContext {
  readonly callId: string;
  readonly actor: Actor;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The request's idempotency key, the same at every attempt, for services that accept one. The call's id when the request had none. */
  readonly key: string;
  /**
   * Maximum length of the text for the caller. A tool that can return more shows the most important part (of messages the newest), and says how to get the
   * rest; the host cuts the end of a longer text.
   */
  readonly mostCharacters: number;
  /** Reports the progress of the call. Callers may ignore it. */
  progress(progress: ToolProgress): void;
}

/** A tool as a plugin declares it: one declaration for the models' schema, the confirmation card and the audit. */
export interface ToolDefinition<S extends ToolInput = ToolInput, O = unknown> {
  /** The name for models: letters, digits and `_`, at most 64. Unique in the host. */
  readonly name: string;
  readonly description: string;
  readonly input: S;
  /**
   * A JSON Schema to show to models unchanged, for a tool whose schema comes from elsewhere and cannot be expressed in zod: `input` still has to refuse invalid
   * arguments. By default made from `input`.
   */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  readonly access?: AccessPolicy;
  /**
   * The place where the call takes effect, for tools that can act outside of the channel in which they are called. `access`, the guild's policy and an
   * identity's scope are then decided for that place, at the request and again before the call runs; if the place has changed by then, the call is refused.
   * Throw `UserError` for an argument that cannot name a place at all; for a place that does not exist, return one that no one can reach, so that the refusal
   * does not reveal what exists. In a cluster it is called in the process of the request, and the place may be in a server of another process:
   * `client.channels.fetch(id, { allowUnknownGuild: true })` finds such a channel. A tool without `place` takes effect where it is called, and may not change
   * anything for an agent without a grant there; a tool that only reads checks its caller's access itself (`Access`).
   */
  place?(input: z.output<S>): Place | Promise<Place>;
  /**
   * The cluster process in which the tool runs, when that is neither the one of `place` nor that of its caller: the process that serves this guild, for a tool
   * that searches a guild named by an argument; with `null` the process for data of no guild, for a tool of a resource that exists once. Access is decided as
   * always. Throw `UserError` for an argument that cannot name a guild.
   */
  runsIn?(input: z.output<S>): string | null;
  /**
   * The sources of the output, for a tool that reads others' messages or content that not all members can see. They are stored with the result, which is later
   * shown only to people who may read all of them at that time. `place` always counts as a source; a tool with neither counts as reading the place of its call.
   */
  sources?(output: O, input: z.output<S>): readonly ToolSource[];
  /** Whether running it twice with the same `ToolContext.key` has the same effect as running it once. By default `true` only for tools that read. */
  readonly idempotent?: boolean;
  /** The policy where the guild has set none; by default the interceptor decides by `risk`. */
  readonly policy?: 'allow' | 'confirm';
  /** Whether a tool of the same name without this flag replaces it: for tools of external servers, whose names the owner has not chosen. */
  readonly yields?: boolean;
  /** Hides the tool from models: it is never offered, and only its own plugin can invoke it (with its id as the request's `origin`). */
  readonly internal?: boolean;
  /**
   * Whether it is useful to offer the tool to a model there; by default it is. Not an access check: a tool that is not offered can still be called by name, and
   * an agent with an identity sees every tool of its grant.
   */
  offered?(actor: Actor): boolean | Promise<boolean>;
  /** Utterances with slots named after arguments: "add {name} to my party, he's a {role}". */
  readonly examples?: readonly string[];
  readonly present?: ToolPresentation<z.output<S>, O>;
  /**
   * Refuses a call that `run` would refuse, before a member gets the request for a confirmation: throw `UserError`. `run` has to check again, since the state
   * may change while the call waits.
   */
  check?(input: z.output<S>, place: { readonly actor: Actor }): void | Promise<void>;
  /** Throw `UserError` with a text for the person. */
  run(input: z.output<S>, context: ToolContext): O | Promise<O>;
}
