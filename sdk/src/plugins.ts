import type { Message } from 'discord.js';
import type { Actor } from './access.js';
import type { Manifest } from './definition.js';
import type { CheckResult } from './observability.js';
import { defineToken } from './token.js';

export type PluginState = 'running' | 'stopped' | 'failed' | 'waiting';

export interface PluginInfo {
  readonly id: string;
  readonly manifest: Manifest;
  readonly state: PluginState;
  /** Where it was found: `bundled`, `folder` or `package`. */
  readonly source: 'bundled' | 'folder' | 'package';
  readonly path: string;
  /** Why it failed, or what it waits for. */
  readonly problem?: string;
  /** Names of the environment variables that it declares. */
  readonly env: readonly string[];
  readonly provides: readonly string[];
  readonly injects: readonly string[];
  /** Labels of what it has registered, in order. */
  readonly effects: readonly string[];
}

/** What is missing before a plugin that runs can do anything in a guild. */
export interface SetupNeed {
  /** A sentence: `No agent lives in this server.` */
  readonly problem: string;
  /** What an admin does about it, in Markdown: the command, or what the bot's owner has to do. */
  readonly remedy: string;
}

/** Asked each time that help is shown. @param guildId `null` in direct messages @returns `undefined` where the plugin is set up */
export type SetupCheck = (guildId: string | null) => SetupNeed | undefined | Promise<SetupNeed | undefined>;

/** What is missing before a plugin can work, as a diagnosis shows it. */
export function needFindings(need: SetupNeed | undefined): readonly CheckResult[] {
  return need === undefined ? [] : [{ ok: false, text: need.problem.replace(/\.$/, ''), remedy: need.remedy }];
}

/** What `!diagnose` asks about: something of a plugin, for a member where they are. */
export interface DiagnosisSubject {
  readonly actor: Actor;
  readonly kind: 'command' | 'tool' | 'plugin';
  /** Full name: `task start`. */
  readonly name: string;
}

/**
 * Looks at what the plugin asks of a member beyond what the host decides: budgets, limits, servers. For what it does not concern it returns
 * nothing. The plugin decides with the same functions when the thing is done, so that both agree.
 */
export type Diagnosis = (about: DiagnosisSubject) => readonly CheckResult[] | Promise<readonly CheckResult[]>;

/**
 * Says why the plugin did not answer a message, when a member asks with `!why`, in sentences: of the rules by which it takes up what is not said to the
 * bot, and of what it has chosen to do. Worked out then: nothing is noted while messages come in. Nothing where it has nothing to say.
 */
export type SilenceReasons = (message: Message) => readonly string[] | Promise<readonly string[]>;

export interface ReloadReport {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** "command roll added", "setting greeting removed" … empty when nothing visible changed. */
  readonly changes: readonly string[];
}

export interface UnloadReport {
  /** Timers that the plugin had set by itself and that had to be cleared: `setInterval 1000 ms, src/index.ts:7:3`. */
  readonly leftovers: readonly string[];
}

/** Lifecycle of plugins. Every method throws a CinnabarError whose sentence may be shown. */
export interface Plugins {
  list(): readonly PluginInfo[];
  /** An id of a discovered plugin, or a folder inside one of the configured plugin folders. */
  load(idOrFolder: string): Promise<PluginInfo>;
  unload(id: string): Promise<UnloadReport>;
  /** Atomic: on any failure the old version goes on, and the error says why. */
  reload(id: string): Promise<ReloadReport>;
  enabledIn(guildId: string | null, id: string): boolean;
  /** What is missing there before the plugin can do anything. */
  setupNeed(guildId: string | null, id: string): Promise<SetupNeed | undefined>;
  /** What the plugin finds when it looks at what it needs for a member. Empty for one that does not run. Never rejects. */
  diagnose(id: string, about: DiagnosisSubject): Promise<readonly CheckResult[]>;
  /** What the plugins that are switched on where a message is have to say of why they did not answer it. Never rejects. */
  silenceReasons(message: Message): Promise<readonly string[]>;
  enable(guildId: string, id: string): Promise<void>;
  disable(guildId: string, id: string): Promise<void>;
  /**
   * Whether a plugin is on where nobody has chosen, for all guilds and direct messages; `undefined` goes back to what its manifest says.
   * @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_REQUIRED
   */
  setDefault(id: string, enabled: boolean | undefined): Promise<void>;
}
export const Plugins = defineToken<Plugins>('cinnabar.plugins');

/** Command prefixes of a guild. A mention of the bot always works beside them. */
export interface Prefixes {
  get(guildId: string | null): readonly string[];
  /** Whether a command with this prefix is for this bot alone, whichever others hear it: a mention of it, or a prefix of its own file. */
  namesBot(prefix: string): boolean;
  /** @throws UserError when it is empty, too long, or there already */
  add(guildId: string, prefix: string): Promise<readonly string[]>;
  remove(guildId: string, prefix: string): Promise<readonly string[]>;
  reset(guildId: string): Promise<readonly string[]>;
}
export const Prefixes = defineToken<Prefixes>('cinnabar.prefixes');

/** The process that runs the plugins. */
export interface HostInfo {
  /** Of the host: `0.1.0`. */
  readonly version: string;
  /** When it started, in milliseconds since 1970. */
  readonly startedAt: number;
  /**
   * Whether it has what belongs to no server: direct messages, notices to owners. Always, where one process serves the bot; of a cluster's hosts one has
   * it, which alone may listen on a port.
   */
  readonly isFirst: boolean;
  /** What the process is called in a cluster. */
  readonly member?: string | undefined;
}
export const HostInfo = defineToken<HostInfo>('cinnabar.host');

/** How the process ends: `restart` so that it is started again. */
export type HostEnd = 'restart' | 'shutdown';

/** Ends the process. Provided by the host. */
export interface HostControl {
  /**
   * Ends the process as a signal does: what is under way finishes first. Returns at once.
   * @throws UserError where the process is not the bot's to end, as in the console
   */
  end(how: HostEnd): void;
}
export const HostControl = defineToken<HostControl>('cinnabar.host-control');
