import type { Readable } from 'node:stream';
import type { PermissionsString } from 'discord.js';
import { permissionName } from './discord/permissions.js';
import { t } from './text/language.js';
import { oneLine, visible } from './text/untrusted.js';
import { defineToken } from './token.js';
import type { Risk } from './tool-definition.js';

/** A plugin's declaration: read in a separate process, before any of its code runs in the bot's. */
export interface PluginDeclaration {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly author?: string | undefined;
  readonly intents: readonly string[];
  readonly permissions: readonly PermissionsString[];
  readonly hosts: readonly string[];
  readonly env: readonly string[];
  readonly injects: readonly string[];
  readonly tools: readonly { readonly name: string; readonly risk: Risk }[];
  /** First words of its commands: `poll` for `poll start`. */
  readonly commands: readonly string[];
  /** Why its `setup` was not completed in that process: there may be more tools and commands. */
  readonly incomplete?: string | undefined;
}

/** A requirement of a new version that the previous one did not have. */
export type PluginWant =
  | { readonly kind: 'permission'; readonly name: PermissionsString }
  | { readonly kind: 'tool'; readonly name: string; readonly risk: Risk }
  | { readonly kind: 'intent' | 'variable' | 'host' | 'service'; readonly name: string };

/** A package as it is presented before its installation. */
export interface PluginOffer {
  readonly id: string;
  /** The name of the npm package. */
  readonly packageName: string;
  readonly version: string;
  readonly license: string | undefined;
  /** Where it comes from, for people: `npm package dice2@1.2.0`. */
  readonly source: string;
  /** `sha512-…` of the tarball, or of all files where there was none. */
  readonly integrity: string;
  readonly declared: PluginDeclaration;
  /** Intents that the plugin requires and the bot is not connected with, as far as that is known. */
  readonly missingIntents: readonly string[];
  /** Commands of other plugins with the same names: while there are any, the plugin cannot start. */
  readonly clashes: readonly string[];
  readonly dependencies: number;
  /** Its size, including its dependencies. */
  readonly bytes: number;
  /** Whole sentences: deprecated, install scripts that do not run … */
  readonly notes: readonly string[];
  /** Set for an update. */
  readonly update?: { readonly from: string; readonly wants: readonly PluginWant[] };
}

/** A package that was downloaded and inspected, and waits for consent. */
export interface PreparedPlugin {
  readonly offer: PluginOffer;
  /**
   * Installs it. A plugin that cannot be started is not kept; in case of an update, the old version continues.
   * @throws UserError or CinnabarError that says why
   */
  install(): Promise<InstalledPlugin>;
  /** Removes the download. Does nothing once it is installed. */
  discard(): Promise<void>;
}

/** The record of an installed plugin. */
export interface InstalledPlugin {
  readonly id: string;
  readonly packageName: string;
  readonly version: string;
  /** The spec that it is updated from: `dice2@^1.0.0`. */
  readonly spec: string;
  readonly pinned: boolean;
  readonly integrity: string;
  /** Why it cannot be used, for instance that its files have been changed. */
  readonly problem?: string;
}

/** An available newer version. */
export interface PluginUpdate {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly pinned: boolean;
}

/** A plugin that a registry file lists. */
export interface ListedPlugin {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** The address or path of the registry file. */
  readonly registry: string;
}

/** Reports the progress of a long step: a sentence. Must not throw. */
export type OnStep = (sentence: string) => void;

/** Third-party plugins, each in a separate folder below the bot's data. One change at a time. */
export interface PluginPackages {
  /**
   * Downloads a package and reads its declaration. None of its code runs in the bot, and nothing is changed.
   * @param spec an id of a registry file, an npm package with or without a range, a tarball, a git repository, or a folder
   * @throws UserError that says why it is refused
   */
  prepare(spec: string, onStep?: OnStep): Promise<PreparedPlugin>;
  /**
   * Like `prepare`, for the newest version of an installed plugin; `undefined` when that version is installed already.
   * @param spec the id, or the wanted version: `dice2@2.0.0`
   */
  prepareUpdate(spec: string, onStep?: OnStep): Promise<PreparedPlugin | undefined>;
  list(): Promise<readonly InstalledPlugin[]>;
  /** Searches for newer versions. A failed search is a problem, as a sentence. */
  updates(): Promise<{ readonly updates: readonly PluginUpdate[]; readonly problems: readonly string[] }>;
  /** Stops a plugin and removes its files. @param options.withData also removes its settings and documents */
  remove(id: string, options: { readonly withData: boolean }): Promise<void>;
  /** A pinned plugin is not updated. */
  pin(id: string, pinned: boolean): Promise<InstalledPlugin>;
  /** Searches the registry files for words in id and description; without words, lists everything. */
  search(words: string): Promise<{ readonly found: readonly ListedPlugin[]; readonly problems: readonly string[] }>;
}
export const PluginPackages = defineToken<PluginPackages>('cinnabar.plugin-packages');

/**
 * Whether an offer needs consent: always, except for an update without additional requirements. A version whose declaration could not be read completely counts
 * as requiring anything.
 */
export function needsConsent({ update, declared }: PluginOffer): boolean {
  return update === undefined || update.wants.length > 0 || declared.incomplete !== undefined;
}

/** The text that is shown before a plugin is installed or updated, as lines of Markdown. */
export function offerLines(offer: PluginOffer): readonly string[] {
  const { declared, update } = offer;
  const text = (value: string | undefined) => visible(oneLine(value ?? '')).slice(0, 300);
  const heading =
    update === undefined
      ? t('**{plugin}** {version}: {description}', {
          plugin: offer.id,
          version: offer.version,
          description: text(declared.description),
        })
      : t('**{plugin}** {from} → {version}: {description}', {
          plugin: offer.id,
          from: update.from,
          version: offer.version,
          description: text(declared.description),
        });
  const wants = (update?.wants ?? []).map((want) => `⚠️ ${wordsOfWant(want)}`);
  const lines: readonly (readonly [label: string, value: string])[] = [
    [t('From'), text(offer.source)],
    [t('Author'), text(declared.author)],
    [t('Licence'), text(offer.license)],
    [t('Integrity'), `\`${offer.integrity}\``],
    [t('Intents'), declared.intents.join(', ')],
    [t('⚠️ Intents that the bot does not have'), offer.missingIntents.join(', ')],
    [t('Permissions'), declared.permissions.map((name) => permissionName(name)).join(', ')],
    [t('Environment'), codes(declared.env)],
    [t('Hosts'), codes(declared.hosts)],
    [t('Tools'), declared.tools.map(({ name, risk }) => `\`${text(name)}\` (${riskWord(risk)})`).join(', ')],
    [t('Commands'), codes(declared.commands)],
    [t('⚠️ Commands that there are already'), codes(offer.clashes)],
    [t('Services'), codes(declared.injects)],
    [t('Dependencies'), String(offer.dependencies)],
    [t('Size'), offer.bytes < 1e6 ? `${Math.ceil(offer.bytes / 1e3)} KB` : `${(offer.bytes / 1e6).toFixed(1)} MB`],
  ];
  const incomplete =
    declared.incomplete === undefined
      ? []
      : [
          t('⚠️ What it registers could not be read to the end ({reason}): there may be more tools and commands.', {
            reason: text(declared.incomplete),
          }),
        ];
  return [
    heading,
    ...(wants.length === 0 ? [] : [t('New in this version:'), ...wants]),
    ...lines.filter(([, value]) => value !== '').map(([label, value]) => `${label}: ${value}`),
    ...offer.notes.map((note) => `⚠️ ${text(note)}`),
    ...incomplete,
    t(
      '⚠️ It runs in the bot’s process and can do whatever the bot can: read its memory and its data, and reach any address. The list above is only what it says about itself.',
    ),
  ];
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${visible(oneLine(name)).replaceAll('`', '')}\``).join(', ');
}

function riskWord(risk: Risk): string {
  return { read: t('read'), write: t('write'), destructive: t('destructive') }[risk];
}

function wordsOfWant(want: PluginWant): string {
  const params = { name: codes([want.name]) };
  switch (want.kind) {
    case 'intent':
      return t('It wants the intent {name}.', params);
    case 'permission':
      return t('It wants the permission {permission}.', { permission: permissionName(want.name) });
    case 'tool':
      return t('It has the tool {name} ({risk}).', { ...params, risk: riskWord(want.risk) });
    case 'variable':
      return t('It reads the variable {name}.', params);
    case 'host':
      return t('It talks to {name}.', params);
    case 'service':
      return t('It uses the service {name}.', params);
  }
}

/** One backup in a folder of backups. */
export interface BackupFile {
  /** `cinnabar-20261122T231500123Z.tar.gz` */
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  /** Whether it was made on schedule: only such backups are pruned. */
  readonly scheduled: boolean;
  readonly bytes: number;
}

/** A verified backup, which was read completely. */
export interface VerifiedBackup extends BackupFile {
  readonly files: number;
  readonly withSecrets: boolean;
  /** Settings that were left out because they are secret: `llm: vendors`. */
  readonly leftOut: readonly string[];
  /** Version of the host that made it. */
  readonly host: string;
}

/** Options of a new backup. */
export interface BackupRequest {
  /** Relative to the working directory at the start of the bot; by default the folder `backups` of its data. */
  readonly folder?: string | undefined;
  /** Without it, secret settings and stored secrets are left out. */
  readonly withSecrets?: boolean;
  readonly scheduled?: boolean;
  /** Called with the number of bytes read, and their total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Backups of the bot's data while it runs. Each is a consistent state at one moment, in one file with checksums that was read back before it counts. One at a
 * time.
 */
export interface Backups {
  /** @throws UserError for a folder that cannot be one of backups */
  create(request?: BackupRequest): Promise<VerifiedBackup>;
  /** This bot's backups, the newest first. */
  list(folder?: string): Promise<readonly BackupFile[]>;
  /** @throws UserError that says what is wrong with it, or that there is none with that name */
  verify(name: string, folder?: string): Promise<VerifiedBackup>;
  /**
   * Verifies a backup and opens it for reading from its first byte.
   * @throws UserError as `verify`, and for a backup with secrets, which the bot never sends
   */
  open(name: string, folder?: string): Promise<VerifiedBackup & { read(): Readable }>;
  /** Removes this bot's oldest scheduled backups until `keep` are left; others stay. @returns the names of removed ones */
  prune(keep: number, folder?: string): Promise<readonly string[]>;
}
export const Backups = defineToken<Backups>('cinnabar.backups');

/** A variable that plugins mark as secret in their `env`. Its value is never shown. */
export interface SecretInfo {
  readonly name: string;
  readonly description: string;
  /** Ids of the plugins that read it. */
  readonly plugins: readonly string[];
  /** Where its value comes from: the environment (or a `.env` file), which takes precedence, or the bot's own store; `undefined` when it is not set. */
  readonly source: 'environment' | 'stored' | undefined;
}

/** The state of a plugin after its environment has changed. */
export interface ReloadOutcome {
  readonly plugin: string;
  /** Why it does not run with the new value. */
  readonly problem?: string;
}

/**
 * Secrets that the owner of the bot sets while it runs. They are stored in a data file that only the bot's user may read, are used for variables that the
 * environment does not set, and are removed from all logs and records.
 */
export interface Secrets {
  list(): readonly SecretInfo[];
  /**
   * Validates the value with the schemas of the plugins that read it, stores it, and reloads those plugins.
   * @throws UserError when no plugin reads it, or when the environment sets it; CINNABAR_SETTING_INVALID, without the value
   */
  set(name: string, value: string): Promise<readonly ReloadOutcome[]>;
  /** @throws UserError when it is not stored */
  delete(name: string): Promise<readonly ReloadOutcome[]>;
  /** Removes a text from all further logs and records, because it was typed where others could read it. */
  redact(words: string): void;
}
export const Secrets = defineToken<Secrets>('cinnabar.secrets');
