import type { Client, ClientEvents } from 'discord.js';
import type { z } from 'zod';
import type { ScheduleDefinition } from './clock.js';
import type { Question, QuestionDefinition } from './cluster.js';
import type { Collection, CollectionDefinitions, Collections, PersonalData } from './collections.js';
import type {
  CommandDefinition,
  ComponentDefinition,
  ComponentHandle,
  GroupDefinition,
  GuildCommands,
  OptionShape,
} from './commands.js';
import type { EnvSchema } from './definition.js';
import type { Logger, Metrics } from './observability.js';
import type { Diagnosis, SetupCheck, SilenceReasons } from './plugins.js';
import type { Settings, SettingsChange, SettingsSchemas } from './settings.js';
import type { Journal, JournalDefinition, Journals, JournalsOptions } from './storage/journal.js';
import type { Injections, Services, Token } from './token.js';
import type { ToolDefinition, ToolInput } from './tool-definition.js';
import type { Interceptor } from './tools.js';
import type { ResponderDefinition } from './turns.js';
import type { WebPage, WebRoute } from './web.js';

/**
 * The argument of `setup`. Every registration belongs to the plugin's scope, is listed in `!plugin info`, and is removed in reverse order when the plugin
 * stops; the returned disposer removes it earlier.
 * @example
 * // In a plugin of several files each function takes the plugin's own context:
 * export type AdminContext = PluginContext<typeof settings, typeof collections, typeof inject>;
 */
export interface PluginContext<
  S extends SettingsSchemas = Record<never, never>,
  C extends CollectionDefinitions = Record<never, never>,
  I extends Injections = Record<never, never>,
  E extends EnvSchema = z.ZodObject<Record<never, never>>,
> extends Registrar {
  readonly settings: Settings<S>;
  readonly collections: Collections<C>;
  readonly services: Services<I>;
  readonly env: z.output<E>;
}

/** A context with erased types, as the host handles it: the host builds the parts from the plugin's declarations. */
export interface ErasedContext extends Registrar {
  readonly settings: object;
  readonly collections: object;
  readonly services: object;
  readonly env: object;
}

export interface ListenerOptions {
  /**
   * For listeners that observe and never answer: logs, moderation, a history. They get messages and reactions although the bot ignores their author or place.
   */
  readonly hearsIgnored?: boolean;
}

/** The part of a context that is the same for every plugin. */
export interface Registrar {
  /** A hybrid command: prefix and slash from one declaration. */
  command<const O extends OptionShape = Record<never, never>>(definition: CommandDefinition<O>): Disposer;
  group(definition: GroupDefinition): Disposer;
  /** Commands and aliases that members make at run time, each in one guild. */
  guildCommands(made: GuildCommands): Disposer;
  /** A button, select menu or modal. */
  component(definition: ComponentDefinition): ComponentHandle;
  /**
   * A discord.js event. Events of guilds where the plugin is disabled are left out; so are messages and reactions of members and in channels that the bot
   * ignores (`Access.ignores`), unless `options` include them.
   */
  on<K extends keyof ClientEvents>(
    event: K,
    handler: (...args: ClientEvents[K]) => unknown,
    options?: ListenerOptions,
  ): Disposer;
  /** Runs once the bot is connected; at once when it already is. */
  ready(handler: () => unknown): Disposer;
  tool<T extends ToolInput, O>(definition: ToolDefinition<T, O>): Disposer;
  responder(definition: ResponderDefinition): Disposer;
  /** A page of the dashboard, rendered from its declaration. */
  page(definition: WebPage): Disposer;
  /** An endpoint for programs on the web server, below the plugin's id. */
  route(definition: WebRoute): Disposer;
  intercept(interceptor: Interceptor): Disposer;
  /** Offers a service under a token that the plugin declared in `provides`. */
  provide<T>(token: Token<T>, service: T): Disposer;
  /** Exports and deletes personal data outside of collections; a source without data contributes nothing. */
  personalData(data: Partial<PersonalData>): Disposer;
  /**
   * Checks whether the plugin is configured in a guild. Otherwise `help` does not list it for members, and tells admins what to do.
   * @example needsSetup(() => modelNeed(services.llm));
   */
  needsSetup(check: SetupCheck): Disposer;
  /**
   * Adds findings to `!diagnose`: why a feature of the plugin does not work for a member, and how to fix it.
   * @example
   * diagnose(async ({ actor, kind, name }) =>
   *   kind === 'plugin' || name === 'draw' ? modelFindings(services.llm, actor) : [],
   * );
   */
  diagnose(look: Diagnosis): Disposer;
  /**
   * Adds reasons to `!why`: why the plugin did not answer a message.
   * @example whySilent(({ content }) => (content.includes('!') ? [] : ['I answer only what is shouted.']));
   */
  whySilent(reasons: SilenceReasons): Disposer;
  /**
   * Called after any change of the plugin's settings is saved, and before its author gets the answer. When several processes share the servers, it is also
   * called a little later in the others, except for settings of servers that they do not serve.
   * @example settingsChanged(async ({ scope, of }) => scope === 'guild' && watch(of));
   */
  settingsChanged(handler: (change: SettingsChange) => unknown): Disposer;
  /** Repeats `task` every `intervalMs`. A repetition is skipped while the previous one still runs. */
  every(intervalMs: number, task: () => unknown): Disposer;
  after(delayMs: number, task: () => unknown): Disposer;
  /**
   * Handles each document of a collection when it is due: a timer that survives restarts. Save or delete the document to plan, change or cancel it. Documents
   * that became due while the bot was down are handled after the start. Nothing runs before the bot is connected.
   * @example
   * schedule(collections.bans, {
   *   dueAt: ({ until }) => until,
   *   guildOf: ({ guildId }) => guildId,
   *   run: ({ value }) => client.guilds.cache.get(value.guildId)?.bans.remove(value.userId),
   * });
   * await collections.bans.of(banId).set({ guildId, userId, until: clock.now() + durationMs });
   */
  schedule<T>(collection: Collection<T>, definition: ScheduleDefinition<T>): Disposer;
  /**
   * A module whose functions run in the host's worker threads, with limits on time and memory: for untrusted documents that are large, or could take forever.
   * Built and loaded when it is first used. It imports from `@cinnabar/sdk/worker`, which is small, rather than from `@cinnabar/sdk`.
   * @param url relative to the plugin's entry file, which is what `import.meta.url` means in all of a plugin's files
   * @example
   * const pages = context.worker<typeof import('./pages.js')>(new URL('./pages.js', import.meta.url));
   * const text = await pages.run('textOf', html, { timeoutMs: 2_000, group: guildId });
   */
  worker<M extends object>(url: URL): WorkerModule<M>;
  /**
   * Opens a journal of the plugin: append-only records in the host's storage, for records that have to be written in order, often, and before their effect.
   * Each record survives a power cut once `append` resolves. Released when the plugin stops. One at a time for a name and a guild.
   * @param name lower case letters, digits and `-`, at most 32
   * @throws CINNABAR_NAME_INVALID
   * @example
   * const journal = context.journal('queue', { schema: record, snapshot: () => waiting.values() });
   * const { records } = await journal.read();
   */
  journal<T>(name: string, definition: JournalDefinition<T>): Journal<T>;
  /**
   * Opens several journals of the plugin: one for each guild, channel or hour. Released when the plugin stops.
   * @throws CINNABAR_NAME_INVALID
   * @example
   * const journals = context.journals();
   * await journals.open([guildId, 'notes'], { schema: note }).append({ text });
   */
  journals(options?: JournalsOptions): Journals;
  /**
   * A question that only the process that serves a server can answer: a bot may run in several processes, each with some of its servers in `client.guilds`.
   * Most plugins need none: events, commands, tools and pages run in the process of their server.
   * @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN
   * @example
   * const sizes = context.question({
   *   name: 'sizes',
   *   input: z.object({ least: z.number() }),
   *   answer: z.array(z.number()),
   *   run: ({ least }) => client.guilds.cache.map(({ memberCount }) => memberCount).filter((size) => size >= least),
   * });
   * const { answers, missing } = await sizes.everywhere({ least: 10 });
   */
  question<B, T>(definition: QuestionDefinition<B, T>): Question<B, T>;
  /** The plugin's metrics for monitoring. */
  readonly metrics: Metrics;
  /** Adds a cleanup of the plugin's own, which runs when the plugin stops. */
  defer(cleanup: Cleanup): Disposer;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  readonly client: Client;
  readonly log: Logger;
}

/** Removes a registration. May be called more than once; resolves when it is completely removed. */
export type Disposer = () => Promise<void>;

/** A cleanup that a plugin hands to `defer`. */
export type Cleanup = () => unknown;

/** How a worker module's functions are called from the main thread. */
export interface WorkerModule<M> {
  /**
   * Runs an exported function of the module in a worker thread. Input and result are copied (structured clone): keep results small, since deserialising a large
   * object blocks the main thread.
   * @throws UserError when the function threw one
   * @throws CinnabarError CINNABAR_WORKER_TIMEOUT, CINNABAR_WORKER_MEMORY, CINNABAR_WORKER_BUSY, CINNABAR_WORKER_FAILED
   */
  run<K extends WorkerFunctionName<M>>(
    name: K,
    input: WorkerInput<M[K]>,
    options?: WorkerRunOptions,
  ): Promise<WorkerOutput<M[K]>>;
}

/** Options of one call of a worker function. */
export interface WorkerRunOptions {
  /**
   * Time limit in milliseconds from the beginning of the work on the input; 5,000 by default. Afterwards the worker is killed. On Linux this is processor time,
   * so that a busy machine does not end a valid job, and ten times as much real time; elsewhere it is real time.
   */
  readonly timeoutMs?: number;
  /** Jobs of different groups take turns: use a guild's id, or a user's. By default the plugin is one group. */
  readonly group?: string;
  /** Cancels the job: a waiting one is removed, a running one is killed. */
  readonly signal?: AbortSignal;
}

/** The exports of a module that take one value. */
export type WorkerFunctionName<M> = {
  [K in keyof M & string]: M[K] extends (input: never) => unknown ? K : never;
}[keyof M & string];
export type WorkerInput<F> = F extends (input: infer I) => unknown ? I : never;
export type WorkerOutput<F> = F extends (input: never) => infer O ? Awaited<O> : never;
