import type { ListenAddress } from '@cinnabar/sdk';
import type { Level } from '../observability/entry.js';

/** The host's own configuration, after `config/` and the environment have been read. */
export interface HostConfig {
  readonly token: string | undefined;
  /** REST base of a proxy or a Discord-compatible server; `undefined` means Discord itself. */
  readonly discordApi: string | undefined;
  /** Which bot this process is, by `--bot` or `BOT_NAME`; `undefined` when only one runs here. */
  readonly botName: string | undefined;
  /** Where the YAML files are. */
  readonly configDir: string;
  /** Where documents live; of each bot apart. */
  readonly dataDir: string;
  /** What can be had again. */
  readonly cacheDir: string;
  /** Where built plugins are kept between starts. Several bots may share it: what is in it is checked against the sources. */
  readonly buildCacheDir: string;
  /** Folder that the bot was started in: relative paths and installed packages are looked up from here. */
  readonly root: string;
  readonly logDir: string;
  readonly logLevel: Level;
  /** The most that all log files may take together; 500 when it is left out. */
  readonly logMegabytes?: number;
  /** How long, and how many, ended tool calls stay in the ledger; 30 days and 10,000 when left out. */
  readonly ledger?: { readonly days: number; readonly calls: number };
  /** Prefixes of guilds that have not chosen their own, and of direct messages. */
  readonly prefixes: readonly string[];
  /** Of these, those that this bot's own file sets and the other bots do not share. */
  readonly ownPrefixes?: readonly string[];
  /** Bot owners by user id; empty: the application's owner or team. */
  readonly owners: readonly string[];
  /** Folders whose subfolders are plugins, beside the bundled ones. */
  readonly pluginFolders: readonly string[];
  /** Where health and metrics are served; nowhere when it is left out. */
  readonly monitoring?: ListenAddress | undefined;
  /** Ids of plugins that are not loaded at start. */
  readonly disabledPlugins: readonly string[];
  /** Values for plugins' global settings that hold until an owner sets others: `{ llm: { model: '…' } }`. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Where a preset stands, for people: `config/shared.yaml:12: settings.llm.model`. */
  readonly presetPlace: (plugin: string, key: string) => string;
  /** The environment, for plugins' `env` schemas. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
