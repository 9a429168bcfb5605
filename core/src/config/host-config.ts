import { readFileSync } from 'node:fs';
import { CinnabarError, type ConfigLayer, type ListenAddress, parseListen, readYaml, z } from '@cinnabar/sdk';
import { LEVELS, type Level } from '../observability/log-entry.js';
import {
  DEFAULT_POOL_SIZE,
  type PostgresOptions,
  SCHEMA_NAME,
  SSL_MODES,
} from '../storage/drivers/postgres/connection.js';
import type { HostKeys } from './configuration.js';

/** The host's configuration, merged from `config/` and the environment. */
export interface HostConfig {
  readonly token: string | undefined;
  /** REST base of a proxy or a Discord-compatible server; `undefined` means Discord itself. */
  readonly discordApi: string | undefined;
  /** Which bot this process is, by `--bot` or `BOT_NAME`; `undefined` when only one runs here. */
  readonly botName: string | undefined;
  /** Where the YAML files are. */
  readonly configDir: string;
  /** Where documents are stored; separate for each bot. */
  readonly dataDir: string;
  /** Where installed plugins are, in the folder `plugins`; in the data folder when it is left out. */
  readonly installDir?: string;
  /** The database for documents and journals; files below the data when it is left out. */
  readonly storage?: PostgresOptions;
  /** How `start --cluster` divides the servers, and the name of this process. */
  readonly cluster?: ClusterOptions;
  /** Folder for data that can be made again. */
  readonly cacheDir: string;
  /** Where built plugins are kept between starts. Several bots may share it: its content is checked against the sources. */
  readonly buildCacheDir: string;
  /** The working directory at the start: relative paths and installed packages are resolved from here. */
  readonly root: string;
  readonly logDir: string;
  readonly logLevel: Level;
  /** The maximum size of all log files together; 500 when it is left out. */
  readonly logMegabytes?: number;
  /** How long, and how many, finished tool calls stay in the ledger; 30 days and 10,000 when left out. */
  readonly ledger?: { readonly days: number; readonly calls: number };
  /** Prefixes of guilds that have not chosen their own, and of direct messages. */
  readonly prefixes: readonly string[];
  /** The prefixes that are set in this bot's own file, so that other bots do not share them. */
  readonly ownPrefixes?: readonly string[];
  /** Bot owners by user id; empty: the application's owner or team. */
  readonly owners: readonly string[];
  /** Folders whose subfolders are plugins, or that are plugins themselves, in addition to the bundled ones. */
  readonly pluginFolders: readonly string[];
  /** Registry files: https addresses, or paths. */
  readonly registries?: readonly string[];
  /** The maximum size of an installed plugin with its dependencies; 100 when it is left out. */
  readonly pluginMegabytes?: number;
  /** Where health and metrics are served; not served when it is left out. */
  readonly monitoring?: ListenAddress | undefined;
  /** Privileged intents that are requested in addition to those that plugins require. */
  readonly intents?: readonly PrivilegedIntent[];
  /** Ids of plugins that are not loaded at start. */
  readonly disabledPlugins: readonly string[];
  /** Values for plugins' global settings that apply until an owner sets others: `{ llm: { model: '…' } }`. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The place of a preset, for people: `config/shared.yaml:12: settings.llm.model`. */
  readonly presetPlace: (plugin: string, key: string) => string;
  /** The environment, for plugins' `env` schemas. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ClusterOptions {
  /** The number of groups into which the servers are divided at the very first start; later it does not change. */
  readonly groups: number;
  /** The name of this process in the cluster; the machine's name when it is left out. */
  readonly name?: string;
  /** Encrypts secrets that are stored for all processes. */
  readonly secretKey?: string;
}

/** Enough for four processes. Each group needs at least one shard, and Discord lets one shard identify every five seconds at first. */
export const DEFAULT_GROUPS = 4;

/** Privileged intents that some plugins use but do not require. */
const PRIVILEGED = ['GuildMembers', 'GuildPresences'] as const;
export type PrivilegedIntent = (typeof PRIVILEGED)[number];

export const LISTEN_RULE = 'must be off, a port such as 9464, or host:port';

const pluginsPart = z.strictObject({
  folders: z.array(z.string()).optional().describe('Folders whose subfolders are plugins'),
  disabled: z.array(z.string()).optional().describe('Plugins that are not loaded at start, by id'),
  registries: z
    .array(z.string().min(1))
    .max(20)
    .optional()
    .describe('Lists of plugins that can be installed by id: https addresses, or files'),
  megabytes: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('The most that an installed plugin may take with its dependencies, in megabytes. By default 100'),
});

const host = z.strictObject({
  prefixes: z
    .array(z.string().min(1).max(10))
    .min(1)
    .max(10)
    .optional()
    .describe('What commands start with, until a guild chooses its own'),
  owners: z
    .array(z.string('must be text: put the id in quotes').regex(/^\d{15,22}$/, 'must be a Discord user id'))
    .optional()
    .describe('Bot owners by user id, in quotes; none: the owner or team of the application'),
  discordApi: z.url().optional().describe('A REST proxy or a Discord-compatible server, instead of Discord itself'),
  logLevel: z
    .enum(LEVELS)
    .optional()
    .describe('Least level that is logged; trace has the bodies of requests to models'),
  logMegabytes: z
    .int()
    .min(10)
    .max(1_000_000)
    .optional()
    .describe('The most that all log files may take together, in megabytes: the oldest are removed. By default 500'),
  ledger: z
    .strictObject({
      days: z.int().min(1).max(3_650).default(30),
      calls: z.int().min(100).max(1_000_000).default(10_000),
    })
    .optional()
    .describe('How long, and how many, ended tool calls stay in the ledger: 30 days and 10,000 by default'),
  intents: z
    .array(z.enum(PRIVILEGED))
    .optional()
    .describe(
      'Privileged intents to ask Discord for beside those that plugins cannot do without: GuildMembers, so that welcome, roles and logging hear who joins. Switch them on in the Developer Portal first',
    ),
  plugins: pluginsPart.optional(),
  monitoring: z
    .strictObject({
      listen: z
        .union([z.string(), z.int()], LISTEN_RULE)
        .transform(String)
        .refine((value) => parseListen(value) !== undefined, LISTEN_RULE)
        .optional()
        .describe('Where /healthz, /readyz and /metrics are served: off, a port (of this machine only), or host:port'),
    })
    .optional(),
});

const storagePart = z.strictObject({
  kind: z
    .enum(['files', 'postgres'])
    .optional()
    .describe(
      'Where documents and journals are kept: files below the data, or PostgreSQL. By default PostgreSQL where a URL is given',
    ),
  url: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres://')
    .optional()
    .describe('The database. With a password in it, it belongs into the environment variable DATABASE_URL, which wins'),
  schema: z
    .string()
    .regex(SCHEMA_NAME, 'must be lower case letters, digits and _, at most 40')
    .optional()
    .describe('The schema that the tables are in; cinnabar by default, with --bot cinnabar_NAME'),
  poolSize: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(`The most connections, beside the one that hears of changes; ${DEFAULT_POOL_SIZE} by default`),
  ssl: z
    .enum(SSL_MODES)
    .optional()
    .describe("verify checks the server's certificate, require only encrypts; the URL decides by default"),
});

const clusterPart = z.strictObject({
  groups: z
    .int()
    .min(1)
    .max(1_024)
    .optional()
    .describe(
      `Into how many groups the servers are divided, each at least a shard: the most processes that have work. Read at the first start of the cluster alone; ${DEFAULT_GROUPS} by default`,
    ),
});

/** The host's keys of `shared.yaml`. Every key has a comment in `config/shared.yaml`. */
export const hostPartSchema = z.strictObject({
  host: host
    .optional()
    .describe(
      "The host itself; read at start. A bot's own file sets prefixes, owners, logLevel, intents, plugins.disabled and monitoring",
    ),
  storage: storagePart.optional().describe('Where documents and journals are kept; read at start'),
  cluster: clusterPart.optional().describe('What processes started with `cinnabar start --cluster` share'),
  settings: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .optional()
    .describe("Values for plugins' global settings, by plugin, until an owner sets others with `!set`; read at start"),
});
export type StoragePart = z.output<typeof storagePart>;
type HostPart = z.output<typeof hostPartSchema>;

/** The host's keys that `bots/{bot}.yaml` may contain: those that differ between processes. */
const ownPartSchema = z.strictObject({
  host: host
    .pick({ prefixes: true, owners: true, logLevel: true, intents: true, monitoring: true })
    .extend({ plugins: pluginsPart.pick({ disabled: true }).optional() })
    .optional(),
});
const BOT_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,30}[A-Za-z0-9_])?$/;
/** `claude-123456789012345678` would be read as the bot `claude` in a guild. */
const ENDS_IN_GUILD = /-\d{15,22}$/;

/** The problem with a bot's name, as a clause; `undefined` when it is valid. Names become parts of paths. */
export function botNameProblem(name: string): string | undefined {
  if (!BOT_NAME.test(name)) return 'must be 1 to 32 letters, digits, _ . or -, with a letter or digit at both ends';
  return ENDS_IN_GUILD.test(name) ? 'must not end like a guild id' : undefined;
}

/** One file of the configuration. */
export interface ConfigFile {
  /** Empty except for `shared.yaml` and the bot's own file. */
  readonly host: HostPart;
  readonly layer: ConfigLayer;
}

export interface ConfigSource {
  readonly path: string;
  /** The path as it is shown to people. */
  readonly source: string;
  readonly hostKeys: HostKeys;
}

/**
 * Reads one YAML file of the configuration.
 * @returns `undefined` when it is missing
 * @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line, key and what would be right
 */
export function readConfigFile(source: ConfigSource): ConfigFile | undefined {
  const text = readIfThere(source);
  return text === undefined ? undefined : parseConfigFile(source, text);
}

/** @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line, key and what would be right */
export function parseConfigFile({ source, hostKeys: allowed }: ConfigSource, text: string): ConfigFile {
  const fail = (line: number, detail: string) =>
    new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: `${source}:${line}: ${detail}` });
  const reading = readYaml(text);
  if (!reading.ok) throw fail(reading.line, reading.problem);

  const hostKeys = Object.keys(hostPartSchema.shape);
  const own = Object.entries(reading.values).filter(([key]) => hostKeys.includes(key));
  const others = Object.entries(reading.values).filter(([key]) => !hostKeys.includes(key));
  const layer = { source, values: Object.fromEntries(others), lineOf: reading.lineOf };

  // An empty key, such as `settings:` when all below it are comments, counts as absent.
  const given = Object.fromEntries(own.filter(([, value]) => value !== null));
  const parsed = PART_SCHEMAS[allowed].safeParse(given);
  if (parsed.success) return { host: parsed.data, layer };
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].map(String);
  const detail = unknown.length > 0 ? misplacement(key, given, allowed) : (issue?.message ?? 'not valid');
  throw fail(reading.lineOf(key), `${key.join('.')}: ${detail}`);
}

const PART_SCHEMAS = { all: hostPartSchema, own: ownPartSchema, none: z.strictObject({}) } as const;

/** Why a file may not contain a key. */
function misplacement(key: readonly string[], given: Readonly<Record<string, unknown>>, allowed: HostKeys): string {
  const anywhere = hostPartSchema.safeParse(given).error?.issues ?? [];
  const isUnknown = anywhere.some(
    (issue) =>
      issue.code === 'unrecognized_keys' && issue.keys.some((one) => key.join() === [...issue.path, one].join()),
  );
  if (isUnknown) return 'there is no such key';
  if (allowed === 'none') return 'belongs in shared.yaml';
  return "belongs in shared.yaml: of the host, a bot's own file sets prefixes, owners, logLevel, plugins.disabled and monitoring";
}

function readIfThere({ path, source }: ConfigSource): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unreadable(source, error);
  }
}

/** @returns CINNABAR_CONFIG_INVALID for a file that exists but cannot be read */
export function unreadable(source: string, error: unknown): CinnabarError {
  const detail = `${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  return new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
}
