import type { z } from 'zod';
import type { AccessPolicy, Actor, Place } from './access.js';
import type { ToolSource } from './ledger.js';
import type { Logger } from './observability.js';
import type { ToolContent, ToolProgress } from './tools.js';

export type ToolInput = z.ZodObject;
export type Risk = 'read' | 'write' | 'destructive';

/** The names that a terminal-style card uses. */
export interface TerminalNames<Argument extends string = string> {
  readonly program: string;
  readonly operation: string;
  readonly record: string;
  /** By default an argument keeps its name. */
  readonly keys?: { readonly [K in Argument]?: string };
}

/** The effect of a call in its place, in words: the existing data decides some of them. */
export interface CallDescription<I> {
  readonly sentence: string;
  readonly said?: readonly (keyof I & string)[];
  readonly action?: string;
  readonly cancelled?: string;
  /** Arguments that were left out, as the call would take them: the card shows them, too. */
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
  /** For terminal-style cards: PARTY_MANAGER, ADD_CHARACTER, CHARACTER_DATA; `keys` name arguments there, `{ gear_preferences: 'gear' }`. */
  readonly terminal?: TerminalNames<keyof I & string>;
  /** Argument labels: `{ gear_preferences: 'Gear Preferences' }`; by default made from the name. */
  readonly labels?: { readonly [K in keyof I & string]?: string };
  /** "✓ V has been added to your party!" A model reads it as the result, too. Markdown: escape what people typed with `plainText`. */
  success?(input: I, output: O): string;
  /** The result with what text cannot say, for who can take it; by default just the text. */
  content?(input: I, output: O): readonly ToolContent[];
  /** "Cancelled adding V to your party." Plain text, as `sentence`. */
  cancelled?(input: I): string;
  /** Words that depend on the member or on what is stored, in place of those above; asked for once, when the call is made. */
  describe?(input: I, place: { readonly actor: Actor }): Promise<CallDescription<I>>;
}

/** The context of `run`, beside its validated input. */
export interface ToolContext {
  readonly callId: string;
  readonly actor: Actor;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The request's key, the same at every attempt: for services that take an idempotency key. The call's id where there was none. */
  readonly key: string;
  /**
   * The longest text that the caller takes. A tool that can return more shows the part that matters most (of messages the newest), and says how to
   * get the rest; of what is longer all the same, the host shows the beginning.
   */
  readonly mostCharacters: number;
  /** Reports to the caller how far it has come; a caller need not listen. */
  progress(progress: ToolProgress): void;
}

export interface ToolDefinition<S extends ToolInput = ToolInput, O = unknown> {
  /** As models see it: letters, digits and `_`, at most 64. Unique in the host. */
  readonly name: string;
  readonly description: string;
  readonly input: S;
  /**
   * The JSON Schema to show as it is, for a tool that has one from elsewhere and no zod schema to say as much: `input` still has
   * to refuse what does not fit. By default made from `input`.
   */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  readonly access?: AccessPolicy;
  /**
   * Where the call takes effect, for tools that can reach beyond the channel in which they are called: `access`, the guild's policy
   * and an identity's scope are then decided for that place, when it is asked for and again before it runs; it is not run when that is another
   * place by then. Throw `UserError` for an argument that cannot name a place at all; for one that there is not, give a place that no one
   * reaches, so that the refusal does not tell what exists. In a cluster it is called where the request was made, and the place may be in a server of another
   * process: `client.channels.fetch(id, { allowUnknownGuild: true })` finds such a channel. A tool without `place` takes effect where it is called, and changes nothing for an
   * agent that was not let in there; one that only reads asks `Access` itself how far its caller may look.
   */
  place?(input: z.output<S>): Place | Promise<Place>;
  /**
   * The cluster process in which the tool runs, when that is neither the one of `place` nor that of its caller: the process that serves this guild, for a tool
   * that looks through a guild named by an argument; with `null` the process for data of no guild, for a tool of a resource that exists once. Access is decided
   * as always. Throw `UserError` for an argument that cannot name a guild.
   */
  runsIn?(input: z.output<S>): string | null;
  /**
   * Where the output came from, for a tool that reads what others said or what not all members can see: it is kept with the result, which is shown
   * later only to who may read all of that then. `place` is one of them without being named; a tool that has neither read where it was asked.
   */
  sources?(output: O, input: z.output<S>): readonly ToolSource[];
  /** Running it twice with the same `ToolContext.key` does no more than running it once. By default only what reads is. */
  readonly idempotent?: boolean;
  /** The policy where the guild has none; by default the interceptor decides by `risk`. */
  readonly policy?: 'allow' | 'confirm';
  /** Gives way to a tool of the same name that does not: for tools of foreign servers, whose names the owner has not chosen. */
  readonly yields?: boolean;
  /** Not for models: never offered, and only its own plugin can invoke it (with its id as the request's `origin`). */
  readonly internal?: boolean;
  /**
   * Whether it is worth offering to a model there; by default it is. Not a matter of rights: a tool that is not offered can still be
   * asked for by name, and an agent with an identity sees whatever it was granted.
   */
  offered?(actor: Actor): boolean | Promise<boolean>;
  /** Utterances with slots named after arguments: "add {name} to my party, he's a {role}". */
  readonly examples?: readonly string[];
  readonly present?: ToolPresentation<z.output<S>, O>;
  /**
   * Refuses what would be refused anyhow, before a member is asked for a confirmation: throw `UserError`. `run` checks it again, since
   * things change while a call waits.
   */
  check?(input: z.output<S>, place: { readonly actor: Actor }): void | Promise<void>;
  /** Throw `UserError` for what the person should read. */
  run(input: z.output<S>, context: ToolContext): O | Promise<O>;
}
