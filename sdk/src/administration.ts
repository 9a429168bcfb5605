import type { Readable } from 'node:stream';
import type { PermissionsString } from 'discord.js';
import { permissionName } from './discord/permissions.js';
import { t } from './text/language.js';
import { oneLine, visible } from './text/untrusted.js';
import { defineToken } from './token.js';
import type { Risk } from './tool-definition.js';

/** What a plugin says of itself: read in a process of its own, before any of it runs in the bot's. */
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
  /** Why its `setup` could not be followed to the end: there may be more tools and commands. */
  readonly incomplete?: string | undefined;
}

/** Something that a new version asks for and the one before it did not. */
export type PluginWant =
  | { readonly kind: 'permission'; readonly name: PermissionsString }
  | { readonly kind: 'tool'; readonly name: string; readonly risk: Risk }
  | { readonly kind: 'intent' | 'variable' | 'host' | 'service'; readonly name: string };

/** What would be installed, before it is. */
export interface PluginOffer {
  readonly id: string;
  /** Of the npm package. */
  readonly packageName: string;
  readonly version: string;
  readonly license: string | undefined;
  /** Where it comes from, for people: `npm package dice2@1.2.0`. */
  readonly source: string;
  /** `sha512-…` of the tarball, or of all files where there was none. */
  readonly integrity: string;
  readonly declared: PluginDeclaration;
  /** Intents that the bot is not connected with, as far as that is known. */
  readonly missingIntents: readonly string[];
  /** Commands that there are already: the plugin would not start. */
  readonly clashes: readonly string[];
  readonly dependencies: number;
  /** With its dependencies. */
  readonly bytes: number;
  /** Whole sentences: deprecated, install scripts that do not run … */
  readonly notes: readonly string[];
  /** Set for an update. */
  readonly update?: { readonly from: string; readonly wants: readonly PluginWant[] };
}

/** A package that has been fetched and read, and waits for a yes. */
export interface PreparedPlugin {
  readonly offer: PluginOffer;
  /**
   * Puts it into place. A plugin that cannot be started is not kept; of an update, the old version goes on.
   * @throws UserError or CinnabarError that says why
   */
  install(): Promise<InstalledPlugin>;
  /** Removes what was fetched. Does nothing once it is installed. */
  discard(): Promise<void>;
}

/** An installed plugin, as it is written down. */
export interface InstalledPlugin {
  readonly id: string;
  readonly packageName: string;
  readonly version: string;
  /** What it is updated from: `dice2@^1.0.0`. */
  readonly spec: string;
  readonly pinned: boolean;
  readonly integrity: string;
  /** Why it cannot be used, for instance that its files have been changed. */
  readonly problem?: string;
}

/** A newer version that there is. */
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

/** How far a long step has come: a sentence. Must not throw. */
export type OnStep = (sentence: string) => void;

/** Plugins from elsewhere: each in a folder of its own below the bot's data. One change at a time. */
export interface PluginPackages {
  /**
   * Fetches a package and reads what it declares. Nothing of it runs in the bot, and nothing changes.
   * @param spec an id of a registry file, an npm package with or without a range, a tarball, a git repository, or a folder
   * @throws UserError that says why it is refused
   */
  prepare(spec: string, onStep?: OnStep): Promise<PreparedPlugin>;
  /**
   * The same for the newest version of an installed plugin; `undefined` when it is installed already.
   * @param spec the id, or what it is to become: `dice2@2.0.0`
   */
  prepareUpdate(spec: string, onStep?: OnStep): Promise<PreparedPlugin | undefined>;
  list(): Promise<readonly InstalledPlugin[]>;
  /** Looks for newer versions. What cannot be looked up is a problem, as a sentence. */
  updates(): Promise<{ readonly updates: readonly PluginUpdate[]; readonly problems: readonly string[] }>;
  /** Stops a plugin and removes its files. @param options.withData its settings and documents go, too */
  remove(id: string, options: { readonly withData: boolean }): Promise<void>;
  /** A pinned plugin is not updated. */
  pin(id: string, pinned: boolean): Promise<InstalledPlugin>;
  /** Looks in the registry files for words in id and description; all that they list without words. */
  search(words: string): Promise<{ readonly found: readonly ListedPlugin[]; readonly problems: readonly string[] }>;
}
export const PluginPackages = defineToken<PluginPackages>('cinnabar.plugin-packages');

/**
 * Whether an offer has to be agreed to: all but an update that asks for nothing beyond what was agreed to before. One whose declarations could not be
 * read to the end may ask for anything.
 */
export function needsConsent({ update, declared }: PluginOffer): boolean {
  return update === undefined || update.wants.length > 0 || declared.incomplete !== undefined;
}

/** What is shown before a plugin is installed or updated, as lines of Markdown. */
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
      '⚠️ It runs in the bot’s process and can do whatever the bot can: read its memory and its data, and reach any address. What stands above is what it says of itself.',
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
  /** Whether it was made on schedule: only such ones are ever pruned. */
  readonly scheduled: boolean;
  readonly bytes: number;
}

/** A backup that has been read from its first byte to its last. */
export interface VerifiedBackup extends BackupFile {
  readonly files: number;
  readonly withSecrets: boolean;
  /** Settings that were left out because they are secret: `llm: vendors`. */
  readonly leftOut: readonly string[];
  /** Version of the host that made it. */
  readonly host: string;
}

export interface BackupRequest {
  /** Relative to the folder that the bot was started in; by default the folder `backups` of the bot's data. */
  readonly folder?: string | undefined;
  /** Without it, secret settings and stored secrets are left out. */
  readonly withSecrets?: boolean;
  readonly scheduled?: boolean;
  /** Hears of bytes read, and how many there are in all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Backups of the bot's data while it runs. Each is what a power cut at one moment would have left, in one file with checksums that has been read
 * back before it counts. One at a time.
 */
export interface Backups {
  /** @throws UserError for a folder that cannot be one of backups */
  create(request?: BackupRequest): Promise<VerifiedBackup>;
  /** This bot's backups, the newest first. */
  list(folder?: string): Promise<readonly BackupFile[]>;
  /** @throws UserError that says what is wrong with it, or that there is none of that name */
  verify(name: string, folder?: string): Promise<VerifiedBackup>;
  /**
   * Verifies it, and reads it from its first byte.
   * @throws UserError as `verify`, and for one with secrets: those never leave the machine by way of the bot
   */
  open(name: string, folder?: string): Promise<VerifiedBackup & { read(): Readable }>;
  /** Removes this bot's oldest scheduled backups until `keep` are left; others stay. @returns the names of those removed */
  prune(keep: number, folder?: string): Promise<readonly string[]>;
}
export const Backups = defineToken<Backups>('cinnabar.backups');

/** A variable that plugins mark as secret in their `env`. Its value is never shown. */
export interface SecretInfo {
  readonly name: string;
  readonly description: string;
  /** Ids of the plugins that read it. */
  readonly plugins: readonly string[];
  /** Where its value is from: the environment (or a `.env` file), which comes first, or the bot's own store; `undefined` when it is not set. */
  readonly source: 'environment' | 'stored' | undefined;
}

/** What became of a plugin whose environment has changed. */
export interface ReloadOutcome {
  readonly plugin: string;
  /** Why it does not run with the new value. */
  readonly problem?: string;
}

/**
 * Secrets that the owner of the bot sets while it runs. They are kept in a file of the data that its user alone may read, fill in what the environment leaves
 * unset, and are taken out of all that is logged or recorded.
 */
export interface Secrets {
  list(): readonly SecretInfo[];
  /**
   * Checks the value by the schemas of the plugins that read it, stores it, and loads those plugins anew.
   * @throws UserError when no plugin reads it, or when the environment sets it; CINNABAR_SETTING_INVALID, without the value
   */
  set(name: string, value: string): Promise<readonly ReloadOutcome[]>;
  /** @throws UserError when it is not stored */
  delete(name: string): Promise<readonly ReloadOutcome[]>;
  /** Takes words out of all that is logged or recorded from now on, because they were typed where others could read them. */
  redact(words: string): void;
}
export const Secrets = defineToken<Secrets>('cinnabar.secrets');
