/**
 * The interfaces between the host's services. Each service is built by one factory that takes what it needs and returns one of these; `host.ts` composes them.
 * They do not depend on tsyringe.
 */
import type {
  Access,
  AccessRequest,
  AccessRule,
  Actor,
  Clock,
  Collection,
  CollectionDefinition,
  CommandDefinition,
  CommandInfo,
  Commands,
  ComponentDefinition,
  ComponentHandle,
  Decision,
  Disposer,
  ExplainedCommand,
  GroupDefinition,
  GuildCommands,
  Injections,
  Interceptor,
  Journal,
  JournalDefinition,
  Journals,
  JournalsOptions,
  Ledger,
  ListenerOptions,
  Logger,
  PersonalData,
  PersonalDataStore,
  Place,
  Plugin,
  Random,
  ResponderDefinition,
  Responders,
  SettingsCatalog,
  SettingsChange,
  Token,
  ToolDefinition,
  ToolPolicy,
  ToolRequest,
  Tools,
  z,
} from '@cinnabar/sdk';
import type { ClientEvents, Interaction, Message } from 'discord.js';
import type { SecretKeys } from './storage/catalog/fields.js';
import type { Whose } from './storage/driver.js';
import type { OpenedPlugin } from './storage/storage.js';
import type { Entrusted } from './tools/tools.js';

/** Owns everything that one run of one plugin has registered. */
export interface Scope {
  readonly plugin: string;
  /** Aborts when the scope starts to close, or before that by `cancel`. */
  readonly signal: AbortSignal;
  /** Registers an effect. @throws CINNABAR_SCOPE_CLOSED after `close` has begun */
  add(label: string, dispose: () => unknown): Disposer;
  /** Labels of the live effects, oldest first. */
  readonly effects: readonly string[];
  /** Aborts the signal, so that running work ends; registrations stay until `close`. */
  cancel(): void;
  /**
   * Disposes strictly last-in first-out, one after another, each within a time limit; collects every error. Idempotent.
   * @param options.disposeTimeoutMs a shorter limit than the scope's own, from now on
   */
  close(options?: { readonly disposeTimeoutMs?: number }): Promise<readonly Error[]>;
}

/** One run of one plugin, as the registries see it. */
export interface Owner {
  readonly id: string;
  readonly plugin: Plugin;
  readonly scope: Scope;
  readonly log: Logger;
  /** The users for whom it may call tools, when it does not come with the host. */
  readonly entrusted?: Entrusted;
}

/** The stored state of a guild. */
export interface GuildState {
  /** Plugins that an admin switched on or off; the others follow `enabledByDefault`. */
  readonly plugins: Readonly<Record<string, boolean>>;
  /** `undefined`: the configured default. */
  readonly prefixes: readonly string[] | undefined;
  readonly toolPolicies: Readonly<Record<string, ToolPolicy>>;
  readonly modRoles: readonly string[];
  readonly adminRoles: readonly string[];
  readonly accessRules: readonly AccessRule[];
}

/** Guild states, kept in memory once loaded so that events never wait for a disk. */
export interface GuildStates {
  /** Reads the guilds that have a stored state. All others share one empty state. */
  open(): Promise<void>;
  /** `undefined` until `open`, or `load` for this guild, has resolved. */
  peek(guildId: string): GuildState | undefined;
  /** Concurrent calls share one read. */
  load(guildId: string): Promise<GuildState>;
  /** Written before it is visible. */
  update(guildId: string, change: (draft: GuildState) => GuildState): Promise<GuildState>;
}

/** The bot owner's choices for all guilds. */
export interface OwnerChoices {
  readonly accessRules: readonly AccessRule[];
  /** Plugins that are on or off by default, whatever `enabledByDefault` says. */
  readonly plugins: Readonly<Record<string, boolean>>;
}

/** The bot owner's choices, read before the bot logs in and held in memory. */
export interface OwnerState {
  open(): Promise<void>;
  peek(): OwnerChoices;
  /** Written before it is visible. */
  update(change: (draft: OwnerChoices) => OwnerChoices): Promise<OwnerChoices>;
}

/** Whether a plugin is enabled in a guild: a synchronous look-up. `null`: in direct messages, where a plugin is enabled unless it is off by default. */
export type EnabledIn = (guildId: string | null, plugin: Plugin) => boolean;

/** Runs plugin code and catches everything that it throws. */
export interface Boundary {
  /**
   * Runs `task` for `owner`. Errors are logged and, unless Discord itself failed, counted: 10 of one plugin in a guild within a minute suspend
   * its listeners there for a minute.
   * Synchronous tasks cost no promise. Resolves or returns when the task has ended, never rejects.
   * @param following the task directly follows the previous one, so the clock need not be read again
   */
  run(
    owner: Owner,
    guildId: string | null,
    label: string,
    task: () => unknown,
    following?: boolean,
  ): void | Promise<void>;
  /** Like `run`, for work whose result the caller needs: counted as in flight, rejects with the task's error. */
  track<T>(owner: Owner, task: () => Promise<T>): Promise<T>;
  /** Suspends the plugin's listeners everywhere for a minute. */
  suspend(plugin: string): void;
  /** Whether the plugin's listeners are suspended in the guild. */
  suspended(plugin: string, guildId: string | null): boolean;
  /** Running handlers: of one plugin, or of all. */
  inFlight(plugin?: string): number;
  /** Resolves with `true` when nothing (of the plugin) is running, `false` when `timeoutMs` passed first. */
  drained(timeoutMs: number, plugin?: string): Promise<boolean>;
}

/** Fan-out of gateway events. One discord.js listener per event type, whatever the number of plugins. */
export interface Events {
  listen<K extends keyof ClientEvents>(
    owner: Owner,
    event: K,
    handler: (...args: ClientEvents[K]) => unknown,
    options?: ListenerOptions,
  ): Disposer;
  ready(owner: Owner, handler: () => unknown): Disposer;
  /** After this call no event reaches a listener. */
  close(): void;
}

/** Prefix and slash commands: registry, parser, router, slash sync and help data. */
export interface CommandService extends Commands {
  command(owner: Owner, definition: CommandDefinition): Disposer;
  group(owner: Owner, definition: GroupDefinition): Disposer;
  guildCommands(owner: Owner, made: GuildCommands): Disposer;
  /** @param decide used instead of `Access.decide` */
  explain(actor: Actor, name: string, decide?: Access['decide']): Promise<readonly ExplainedCommand[]>;
  /** Every registered command by full name, whatever its access. */
  all(): readonly CommandInfo[];
  /** Called first for every message: returns at once, `true` when the message runs a command. */
  onMessage(message: Message): boolean;
  /** Chat-input commands and autocomplete. `true` when it was for a command. */
  onInteraction(interaction: Interaction): boolean;
  /** Does the part of `syncAll` that needs no connection, to shorten the rest. */
  prepareSync(): void;
  /**
   * Synchronises Discord's list for one guild (or for DMs: `null`). Concurrent calls for one guild are coalesced.
   * @param isNew the bot has just joined it: its list is not known
   */
  sync(guildId: string | null, isNew?: boolean): Promise<void>;
  /** Synchronises every guild; called after commands, or where they are enabled, have changed. Coalesced. Makes no request for a list that has not changed. */
  syncAll(): Promise<void>;
  /** Stops starting further synchronisations, and saves the state. */
  closeSync(): Promise<void>;
}

export interface ComponentService {
  component(owner: Owner, definition: ComponentDefinition): ComponentHandle;
  onInteraction(interaction: Interaction): boolean;
}

export interface ToolService extends Tools {
  tool(owner: Owner, definition: ToolDefinition): Disposer;
  intercept(owner: Owner, interceptor: Interceptor): Disposer;
  /** The place where a request takes effect; `undefined`: the actor's place, or none for an invalid call. @throws whatever the tool's `place` throws */
  placeOf(request: Pick<ToolRequest, 'name' | 'arguments' | 'actor'>): Promise<Place | undefined>;
  readonly ledger: Ledger;
  /** The calls that a member requested. */
  readonly personalData: PersonalData;
  /** At start: pending calls become expired, running calls become unknown. Returns how many. */
  recover(): Promise<number>;
  /** Once the plugins run and the bot is logged in: prunes the ledger daily from now on, and announces the ends of the calls that `recover` found. */
  serve(): Promise<void>;
  /** Resolves when the end of every call has been announced and the call is archived. */
  idle(): Promise<void>;
  /** Stops pruning, and waits as `idle` does. */
  close(): Promise<void>;
}

export interface ResponderService extends Responders {
  responder(owner: Owner, definition: ResponderDefinition): Disposer;
}

/** Plugin services by token, in a child container; and which plugins guard tools. */
export interface ServiceRegistry {
  provide(owner: Owner, token: Token<unknown>, service: unknown): Disposer;
  has(token: Token<unknown>): boolean;
  resolve(injections: Injections): Readonly<Record<string, unknown>>;
}

/** Settings and collections of one plugin, typed by its declarations on the SDK's side. */
export interface PluginStorage {
  readonly settings: object;
  readonly collections: object;
  /** Calls the listener after each change of the plugin's settings is saved. @returns a function that removes the listener */
  onChange(listener: (change: SettingsChange) => unknown): () => void;
}
export interface CatalogService extends SettingsCatalog {
  /** The reason why a plugin's own check refuses a value of its guild settings; `undefined` when it accepts the value, or has no check. */
  refusalOf(plugin: string, key: string, value: unknown, actor: Actor): Promise<string | undefined>;
}
export interface StorageService {
  /** Opens a plugin's storage. The documents stay the same across reloads; the schemas are those of this version. */
  open(plugin: Plugin): PluginStorage;
  /** A plugin's settings for reading, whether or not it runs. */
  settingsOf(plugin: Plugin): object;
  /** Releases a version that has stopped: its settings are no longer listed. */
  close(plugin: Plugin): void;
  /**
   * A collection of the host, stored beside those of plugins.
   * @param watched for which documents `watch` reports changes by other processes; by default those that `entries` lists
   */
  collection<S extends z.ZodObject>(
    name: string,
    definition: CollectionDefinition<S>,
    watched?: Whose,
  ): Collection<z.output<S>>;
  /** A journal of a plugin. One at a time for a name and a guild. @throws CINNABAR_NAME_INVALID */
  journal<T>(plugin: string, name: string, definition: JournalDefinition<T>): Journal<T>;
  /** A group of journals of a plugin; `release` closes those that are open. @throws CINNABAR_NAME_INVALID */
  journals(plugin: string, options?: JournalsOptions): Journals & Pick<Journal<never>, 'release'>;
  /** Which settings are secret, of every plugin that has been opened. */
  secretKeys(): ReadonlyMap<string, SecretKeys>;
  readonly catalog: CatalogService;
  /** The plugins whose storage is open. */
  opened(): readonly OpenedPlugin[];
  /** All documents of a user in user-scoped collections, by plugin and collection; and their deletion. */
  exportUser(userId: string): Promise<Readonly<Record<string, unknown>>>;
  forgetUser(userId: string): Promise<number>;
  /** Removes everything that a plugin has stored, with every copy. The plugin must not run. */
  eraseAll(plugin: string): Promise<void>;
  /**
   * Calls the listener after a time in which changes by other processes could not be received: removals may have been missed.
   * @returns a function that removes the listener
   */
  onGap(listener: () => void): () => void;
  /** Waits for pending writes. */
  flush(): Promise<void>;
}

/** Personal data that plugins hold in addition to their user-scoped collections, together with those collections. */
export interface PersonalDataService extends PersonalDataStore {
  register(owner: Owner, data: Partial<PersonalData>): Disposer;
}

/** Services that nearly every other service needs. */
export interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface AccessService extends Access {
  /** Whether `ignores` can be true for anyone in a guild: called with every message. */
  mayIgnore(guildId: string | null): boolean;
  /** Whether Discord sends every change of members; otherwise members are requested for each call. */
  membershipsAreLive(): boolean;
  /** Like `decide`, but members may be a minute old: for a list of names, each of which is decided about again when it is opened. */
  decideListed(actor: Actor, subject: AccessRequest): Promise<Decision>;
  /** Like `decide`, but without cached members: for the moment before something irrevocable happens. */
  decideFresh(actor: Actor, subject: AccessRequest): Promise<Decision>;
  /** The actor where a call takes effect: in another guild an identity acts for the user who granted it access there; others stay the same. */
  actorAt(actor: Actor, at: Place): Promise<Actor>;
  /** How an identity may use a tool in the actor's guild; `undefined` for people. */
  modeOf(actor: Actor, tool: string): Promise<'allow' | 'confirm' | undefined>;
  /** Whether a user is one of the bot's owners, as far as these are known: use after `decide`, `tierOf` or `owners`. */
  isOwner(userId: string): boolean;
}
