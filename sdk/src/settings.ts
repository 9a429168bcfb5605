import type { z } from 'zod';
import type { Actor } from './access.js';
import type { Disposer } from './context.js';
import { t } from './text/language.js';
import { defineToken } from './token.js';

/** The scopes of a value, from the widest to the narrowest. */
export const SETTING_SCOPES = ['global', 'guild', 'channel', 'role', 'user', 'member'] as const;
export type SettingScope = (typeof SETTING_SCOPES)[number];

/**
 * Schemas by scope. Each field needs a default or must be optional: an absent document reads as `{}`. Mark secrets with `.meta({ secret: true })`.
 *
 * The owner of the bot can set a maximum for every number of a guild's settings, in the configuration files: admins cannot set more, and higher stored values
 * are read as the maximum. `.meta({ ceiling: 20 })` is the default maximum, for settings that affect the owner's costs; `.meta({ noLimit: 0 })` is the number
 * that means "no limit"; `.meta({ model: true })` marks the name of a model, which admins choose from `allowedModels`.
 */
export type SettingsSchemas = { readonly [K in SettingScope]?: z.ZodObject };

/** An id, or anything of discord.js that has one. */
export type HasId = string | { readonly id: string };
/** A member: a discord.js `GuildMember`, or the two ids. */
export type MemberKey =
  | { readonly id: string; readonly guild: { readonly id: string } }
  | { readonly userId: string; readonly guildId: string };

/** One scope's values. Reads merge defaults; writes are validated, serialised per document, and saved before they resolve. */
export interface SettingsDocument<T> {
  get(): Promise<T>;
  /** @throws CINNABAR_SETTING_INVALID and saves nothing */
  set(values: Partial<T>): Promise<T>;
  /** Changes a draft. When `change` throws, nothing is saved. */
  update(change: (draft: T) => unknown): Promise<T>;
  /** Resets to the defaults: one key, or all. */
  reset(key?: keyof T & string): Promise<void>;
}

type DocumentOf<S> = S extends z.ZodObject ? SettingsDocument<z.output<S>> : never;

/** The settings of guilds. */
export interface GuildSettings<D> {
  /** The values of a guild; for `null` those in direct messages: the defaults, within the owner's maximums. */
  (of: HasId | null): D;
  /** Ids of the guilds in which a setting was changed: all others have the defaults, so that background work need not read thousands of them. */
  changedIn(): Promise<readonly string[]>;
}

/** The settings of a plugin by scope: `settings.global.get()`, `settings.guild(guildId).get()`. */
export type Settings<S extends SettingsSchemas> = {
  readonly [K in keyof S & SettingScope]-?: K extends 'global'
    ? DocumentOf<S[K]>
    : K extends 'guild'
      ? GuildSettings<DocumentOf<S[K]>>
      : K extends 'member'
        ? (member: MemberKey) => DocumentOf<S[K]>
        : (of: HasId) => DocumentOf<S[K]>;
};

/** A change of a plugin's settings: one document, of a server, a channel … */
export interface SettingsChange {
  readonly scope: SettingScope;
  /** The id of the server, channel, role or user; for a member `guildId-userId`; `null` for the global settings. */
  readonly of: string | null;
}

/** Discord objects that a text setting may name, by `.meta({ kind: 'channel' })`. */
export const SETTING_MENTIONS = ['channel', 'user', 'member', 'role'] as const;
export type SettingMention = (typeof SETTING_MENTIONS)[number];

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** The type of a setting's value, as far as it can be given as text. */
export type SettingType =
  | { readonly kind: 'boolean' | 'nothing' | 'object' | 'anything' }
  | ({ readonly kind: 'number'; readonly whole: boolean; readonly above?: number; readonly below?: number } & Bounds)
  /** In milliseconds. */
  | ({ readonly kind: 'duration' } & Bounds)
  | ({ readonly kind: 'text'; readonly format?: string } & Bounds)
  | { readonly kind: 'mention'; readonly of: SettingMention }
  | { readonly kind: 'choice'; readonly values: readonly unknown[] }
  | ({ readonly kind: 'list'; readonly of: SettingType } & Bounds)
  | { readonly kind: 'either'; readonly of: readonly SettingType[] };

/** One setting as shown to an admin. */
export interface SettingInfo {
  readonly plugin: string;
  readonly key: string;
  readonly scope: SettingScope;
  /** "whole number from 1 to 20", "one of plain, cyberpunk, terminal". */
  readonly type: string;
  /** The same for programs, such as a form. */
  readonly control: SettingType;
  readonly description: string;
  readonly default: unknown;
  /** The value in force in the actor's place. Secrets are returned as `(set)` or `(not set)`. */
  readonly value: unknown;
  readonly secret: boolean;
  /** When the plugin reports the value in force in the actor's place: that value, and its layer. */
  readonly inForce?: InForce;
}

/** A value in force, and its source, for people: `config/bots/claude.yaml:3`. */
export interface InForce {
  readonly value: unknown;
  readonly origin: string;
}

/** A plugin's checks of its settings beyond their schemas, for plugins with further layers (files, pins). */
export interface SettingAdvisor {
  /** Why a valid value would have no effect, as a clause without a full stop; `undefined` when it has an effect. */
  refusalOf(key: string, value: unknown, actor: Actor): Promise<string | undefined>;
  /** The value in force for the actor; `undefined` for a key that only the settings decide. */
  inForce(key: string, actor: Actor): Promise<InForce | undefined>;
}

/** How a setting is changed. */
export interface SettingChangeOptions {
  /** The value that its author saw (`SettingInfo.value`): when it has changed since, nothing is changed. */
  readonly expected?: { readonly value: unknown };
  /** Whether only the actor reads the typed text, as in a form: then secrets may be set in a server, too. */
  readonly privately?: boolean;
}

/** Settings of every plugin, by name, from text. The scope determines which settings an actor may change: global ones are the bot owner's. */
export interface SettingsCatalog {
  describe(plugin: string, actor: Actor): Promise<readonly SettingInfo[]>;
  /**
   * Parses a text, or each item of a list, by the setting's type.
   * @throws CINNABAR_SETTING_UNKNOWN, CINNABAR_SETTING_INVALID, CINNABAR_ACCESS_DENIED, CINNABAR_SETTING_CHANGED
   */
  set(
    plugin: string,
    key: string,
    text: string | readonly string[],
    actor: Actor,
    options?: SettingChangeOptions,
  ): Promise<SettingInfo>;
  /** The settings that `reset` would remove, with their values. @throws as `reset` */
  stored(plugin: string, key: string | undefined, actor: Actor): Promise<readonly SettingInfo[]>;
  /** Resets one setting to its default, or a whole scope: that of `key`, or the only one that the actor may change. */
  reset(
    plugin: string,
    key: string | undefined,
    actor: Actor,
    options?: Pick<SettingChangeOptions, 'expected'>,
  ): Promise<void>;
  /** Lets a plugin check values of its guild settings before they are saved, and report those in force. @returns a function that removes it */
  advise(plugin: string, advisor: SettingAdvisor): () => void;
  /** Ids of plugins that have settings. */
  plugins(): readonly string[];
  /** Whether the value for a typed key must not be repeated. Unknown settings count as secret. */
  mayBeSecret(plugin: string, key: string): boolean;
}
export const SettingsCatalog = defineToken<SettingsCatalog>('cinnabar.settings-catalog');

/** One file of the configuration, or a part of one, as it applies somewhere. */
export interface ConfigLayer {
  /** For people: `config/bots/claude.yaml`. */
  readonly source: string;
  /** The keys that are not the host's own, unvalidated plain data. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The line of a key, or of the nearest part of it that is there; from 1. */
  lineOf(key: readonly (string | number)[]): number;
}

/** The YAML files of the configuration folder: shared → guild → bot → bot-guild. Changes on disk are seen without a restart. */
export interface Configuration {
  /** The bot's name as chosen by `--bot` or `BOT_NAME`; `undefined` when none was. */
  readonly botName: string | undefined;
  /** Files that apply in a guild (`null`: direct messages), widest first, without missing ones. A file that cannot be parsed keeps its last good content. */
  layers(guildId: string | null): Promise<readonly ConfigLayer[]>;
  /** Registers top-level keys: other keys are reported as mistakes. Those of a plugin's `configuration` are registered while it runs. */
  claim(keys: readonly string[]): Disposer;
  /** Called after a file has changed, with its source. */
  onChange(listener: (source: string) => void): Disposer;
}
export const Configuration = defineToken<Configuration>('cinnabar.configuration');

/** The place where a value of a scope applies, as a phrase after the value: `for this server`. */
export function whereSettingHolds(scope: SettingScope): string {
  switch (scope) {
    case 'global':
      return t('everywhere');
    case 'guild':
      return t('for this server');
    case 'channel':
      return t('for this channel');
    case 'role':
      return t('by role');
    case 'user':
      return t('for you');
    case 'member':
      return t('for you in this server');
  }
}
