import type { Message } from 'discord.js';
import type { Actor } from './access.js';
import type { Manifest } from './definition.js';
import type { CheckResult } from './observability.js';
import { defineToken } from './token.js';

/** `waiting`: a service that the plugin injects is not provided at the moment. */
export type PluginState = 'running' | 'stopped' | 'failed' | 'waiting';

/** A plugin that the host has found, and its state. */
export interface PluginInfo {
  readonly id: string;
  readonly manifest: Manifest;
  readonly state: PluginState;
  /** Where it was found: `bundled`, `folder` or `package`. */
  readonly source: 'bundled' | 'folder' | 'package';
  readonly path: string;
  /** Why it failed, or why it waits. */
  readonly problem?: string;
  /** Names of the environment variables that it declares. */
  readonly env: readonly string[];
  readonly provides: readonly string[];
  readonly injects: readonly string[];
  /** Labels of its registrations, in order. */
  readonly effects: readonly string[];
}

/** The configuration that is missing before a running plugin works in a guild. */
export interface SetupNeed {
  /** A sentence: `No agent lives in this server.` */
  readonly problem: string;
  /** The remedy for an admin, in Markdown: the command, or the task for the bot's owner. */
  readonly remedy: string;
}

/** Called each time when help is shown. @param guildId `null` in direct messages @returns `undefined` when the plugin is configured */
export type SetupCheck = (guildId: string | null) => SetupNeed | undefined | Promise<SetupNeed | undefined>;

/** The configuration that is missing before a plugin works, as a diagnosis shows it. */
export function needFindings(need: SetupNeed | undefined): readonly CheckResult[] {
  return need === undefined ? [] : [{ ok: false, text: need.problem.replace(/\.$/, ''), remedy: need.remedy }];
}

/** The subject of `!diagnose`: a feature of the plugin, for a member in a place. */
export interface DiagnosisSubject {
  readonly actor: Actor;
  readonly kind: 'command' | 'tool' | 'plugin';
  /** Full name: `task start`. */
  readonly name: string;
}

/**
 * Checks the plugin's own conditions for a member: budgets, limits, servers. For other subjects it returns nothing. The feature itself has to use the same
 * functions, so that both agree.
 */
export type Diagnosis = (about: DiagnosisSubject) => readonly CheckResult[] | Promise<readonly CheckResult[]>;

/**
 * The plugin's reasons for not answering a message, in sentences, when a member asks with `!why`: from its rules for messages that do not address the bot, and
 * its own decisions. Computed on request: nothing is recorded for each message. Empty when there are no reasons.
 */
export type SilenceReasons = (message: Message) => readonly string[] | Promise<readonly string[]>;

/** The versions before and after a reload, and the visible changes. */
export interface ReloadReport {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** "command roll added", "setting greeting removed" … empty when nothing visible changed. */
  readonly changes: readonly string[];
}

/** The result of unloading a plugin. */
export interface UnloadReport {
  /** Timers that the plugin had set itself and that had to be cleared: `setInterval 1000 ms, src/index.ts:7:3`. */
  readonly leftovers: readonly string[];
}

/** Lifecycle of plugins. Every method throws a CinnabarError whose sentence may be shown. */
export interface Plugins {
  list(): readonly PluginInfo[];
  /** An id of a discovered plugin, or a folder inside one of the configured plugin folders. */
  load(idOrFolder: string): Promise<PluginInfo>;
  unload(id: string): Promise<UnloadReport>;
  /** Atomic: after any failure the old version continues, and the error says why. */
  reload(id: string): Promise<ReloadReport>;
  enabledIn(guildId: string | null, id: string): boolean;
  /** The configuration that is missing there before the plugin works. */
  setupNeed(guildId: string | null, id: string): Promise<SetupNeed | undefined>;
  /** The plugin's findings about its own conditions for a member. Empty for one that does not run. Never rejects. */
  diagnose(id: string, about: DiagnosisSubject): Promise<readonly CheckResult[]>;
  /** The reasons of the plugins that are enabled in a message's place for not answering it. Never rejects. */
  silenceReasons(message: Message): Promise<readonly string[]>;
  enable(guildId: string, id: string): Promise<void>;
  disable(guildId: string, id: string): Promise<void>;
  /**
   * The default whether a plugin is on, for all guilds and direct messages; `undefined` resets it to its manifest.
   * @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_REQUIRED
   */
  setDefault(id: string, enabled: boolean | undefined): Promise<void>;
}
export const Plugins = defineToken<Plugins>('cinnabar.plugins');

/** Command prefixes of a guild. A mention of the bot always works as well. */
export interface Prefixes {
  get(guildId: string | null): readonly string[];
  /**
   * Whether a command with this prefix can only address this bot, even if several bots read the message: the prefix is a mention of the bot, or one that its
   * own configuration file sets.
   */
  namesBot(prefix: string): boolean;
  /** @throws UserError when it is empty, too long, or there already */
  add(guildId: string, prefix: string): Promise<readonly string[]>;
  remove(guildId: string, prefix: string): Promise<readonly string[]>;
  reset(guildId: string): Promise<readonly string[]>;
}
export const Prefixes = defineToken<Prefixes>('cinnabar.prefixes');

/** The process that runs the plugins. */
export interface HostInfo {
  /** The version of the host: `0.1.0`. */
  readonly version: string;
  /** When it started, in milliseconds since 1970. */
  readonly startedAt: number;
  /**
   * Whether it handles everything without a server: direct messages, notices to owners. Always, when one process serves the bot; of a cluster's hosts one does,
   * and only that one may listen on a port.
   */
  readonly isFirst: boolean;
  /** The name of the process in a cluster. */
  readonly member?: string | undefined;
  /**
   * Letters and digits that stay the same for this installation, and differ between processes of one machine, also between containers: a digest of the path of
   * its data folder. Processes on other machines may share it.
   */
  readonly installation: string;
}
export const HostInfo = defineToken<HostInfo>('cinnabar.host');

/** How the process ends: `restart` so that it is started again. */
export type HostEnd = 'restart' | 'shutdown';

/** Ends the process, or all processes of a cluster. Provided by the host. */
export interface HostControl {
  /**
   * Ends the process as a signal does: running work finishes first. The processes of a cluster restart one after another. Returns at once.
   * @throws UserError when the bot may not end the process, as in the console
   */
  end(how: HostEnd): void;
}
export const HostControl = defineToken<HostControl>('cinnabar.host-control');
