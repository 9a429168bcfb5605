import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CinnabarError, defined, type ListenAddress, parseListen } from '@cinnabar/sdk';
import { z } from 'zod';
import { LEVELS } from '../observability/log-entry.js';
import { DEFAULT_POOL_SIZE, type PostgresOptions } from '../storage/drivers/postgres/connection.js';
import { BOTS, botsIn, hostKeysOf, presentFiles, shownPath } from './configuration.js';
import {
  botNameProblem,
  type ConfigFile,
  DEFAULT_GROUPS,
  type HostConfig,
  LISTEN_RULE,
  readConfigFile,
  type StoragePart,
} from './host-config.js';
import { type Environment, placesOf, readEnvironment } from './places.js';

/** The variables that the host itself reads; plugins declare their own. */
export const hostEnvironment = z.object({
  DISCORD_TOKEN: z.string().optional().describe('Bot token. Without it, `npm start` opens the local Discord.'),
  DISCORD_API: z
    .url('must be a URL such as http://127.0.0.1:3000/api')
    .optional()
    .describe('REST base instead of Discord itself.'),
  BOT_NAME: z.string().optional().describe('Which bot this process is: chooses bots/NAME.yaml and data of its own.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres://')
    .optional()
    .describe(
      'Keeps documents and journals in this PostgreSQL instead of files: postgres://user:password@host/database.',
    ),
  CINNABAR_DATA: z.string().optional().describe('Where data, caches and logs live; ./data by default.'),
  CINNABAR_CONFIG: z.string().optional().describe('Folder of the configuration; ./config by default.'),
  CONFIG_PATH: z.string().optional().describe('The same as CINNABAR_CONFIG.'),
  CACHE_PATH: z.string().optional().describe('Where caches live; the folder cache below the data by default.'),
  BUILD_CACHE_PATH: z.string().optional().describe('Where built plugins are kept; with the other caches by default.'),
  CINNABAR_PLUGINS: z.string().optional().describe('More plugin folders, separated by commas.'),
  CINNABAR_OWNERS: z
    .string()
    .regex(/^\d{15,22}(,\s*\d{15,22})*$/, 'must be Discord user ids, separated by commas')
    .optional()
    .describe('Bot owners by user id, separated by commas.'),
  CINNABAR_MONITORING: z
    .string()
    .refine((value) => parseListen(value) !== undefined, LISTEN_RULE)
    .optional()
    .describe('Where /healthz, /readyz and /metrics are served: off (the default), a port, or host:port.'),
  CINNABAR_MEMBER: z
    .string()
    .regex(/^[\w.-]{1,60}$/, 'must be letters, digits, _, . and -, at most 60')
    .optional()
    .describe('What people know this process by in a cluster; the name of the machine by default.'),
  CINNABAR_SECRET_KEY: z
    .string()
    .min(32, 'must be at least 32 characters')
    .optional()
    .describe('Encrypts what `secrets` stores in a cluster: a random text, the same for all its processes.'),
  LOG_LEVEL: z.enum(LEVELS).optional().describe('Least level that is logged; info by default.'),
});

/**
 * Reads `.env` (with `--bot claude` also `.env.claude`), the environment (which takes precedence) and `shared.yaml` into one configuration, and checks that the
 * other files of the configuration can be read. The bot's own file takes precedence over `shared.yaml`, key by key.
 * @param root folder that relative paths start from
 * @param bot the bot's name from the command line; takes precedence over `BOT_NAME`
 * @throws CinnabarError CINNABAR_CONFIG_INVALID, naming the variable, or the file and line
 */
export function loadConfig(root: string, processEnvironment: Environment, bot?: string): HostConfig {
  const environment = readEnvironment(root, processEnvironment, bot);
  const { botName, env } = environment;
  checkBotName(botName, bot === undefined ? 'the environment variable BOT_NAME' : '--bot');
  const variables = readVariables(env);
  const { at, dataDir, cacheDir, buildCacheDir } = placesOf(root, environment);
  const configDir = at(variables.CINNABAR_CONFIG ?? variables.CONFIG_PATH ?? 'config');
  checkBotIsKnown(root, configDir, botName);
  const { shared, own: ofBot } = readFiles(root, configDir, botName);
  const settings = shared?.host.settings;
  const common = shared?.host.host;
  // Key by key, as in all files of the configuration.
  const host = { ...common, ...ofBot?.host.host, plugins: { ...common?.plugins, ...ofBot?.host.host?.plugins } };
  const commonPrefixes = common?.prefixes ?? ['!'];

  return {
    token: variables.DISCORD_TOKEN,
    discordApi: variables.DISCORD_API ?? host.discordApi,
    root,
    botName,
    configDir,
    dataDir,
    cacheDir,
    buildCacheDir,
    cluster: {
      groups: shared?.host.cluster?.groups ?? DEFAULT_GROUPS,
      ...defined({ name: variables.CINNABAR_MEMBER, secretKey: variables.CINNABAR_SECRET_KEY }),
    },
    logDir: join(dataDir, 'logs'),
    logLevel: variables.LOG_LEVEL ?? host.logLevel ?? 'info',
    ...defined({
      storage: databaseOf(shared?.host.storage, variables.DATABASE_URL, botName),
      logMegabytes: host.logMegabytes,
      ledger: host.ledger,
      intents: host.intents,
      registries: host.plugins.registries,
      pluginMegabytes: host.plugins.megabytes,
    }),
    prefixes: host.prefixes ?? commonPrefixes,
    ownPrefixes: (ofBot?.host.host?.prefixes ?? []).filter((prefix) => !commonPrefixes.includes(prefix)),
    owners: [...listOf(variables.CINNABAR_OWNERS), ...(host.owners ?? [])],
    pluginFolders: [...(host.plugins.folders ?? []), ...listOf(variables.CINNABAR_PLUGINS)].map(at),
    monitoring: addressOf(variables.CINNABAR_MONITORING ?? host.monitoring?.listen ?? 'off'),
    disabledPlugins: host.plugins.disabled ?? [],
    presets: settings ?? {},
    presetPlace(plugin, key) {
      const path = ['settings', plugin, key];
      return `${shared?.layer.source}:${shared?.layer.lineOf(path)}: ${path.join('.')}`;
    },
    env,
  };
}

/** @throws CINNABAR_CONFIG_INVALID when a database is configured without a URL */
function databaseOf(
  part: StoragePart = {},
  variable: string | undefined,
  botName: string | undefined,
): PostgresOptions | undefined {
  const {
    kind,
    url,
    schema = schemaOf(botName),
    poolSize = DEFAULT_POOL_SIZE,
    ssl,
  } = {
    ...part,
    ...defined({ url: variable }),
  };
  if (kind === 'files') return undefined;
  if (url !== undefined) return { url, schema, poolSize, ...defined({ ssl }) };
  if (kind === undefined) return undefined;
  const detail = 'storage.kind is postgres, but no database is named: set DATABASE_URL, or storage.url';
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}

/** Each bot has separate tables. A name that is not valid in PostgreSQL gets a part of its hash. */
function schemaOf(botName: string | undefined): string {
  if (botName === undefined) return 'cinnabar';
  if (/^[a-z0-9_]{1,24}$/.test(botName)) return `cinnabar_${botName}`;
  const hash = createHash('sha256').update(botName).digest('hex').slice(0, 8);
  return `cinnabar_${botName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '_')
    .slice(0, 16)}_${hash}`;
}

function addressOf(listen: string): ListenAddress | undefined {
  const address = parseListen(listen);
  return address === 'off' ? undefined : address;
}

function checkBotName(name: string | undefined, from: string): void {
  const problem = name === undefined ? undefined : botNameProblem(name);
  if (problem === undefined) return;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: `${from} ${problem}` });
}

/** When there are files for bots, a name without a file is a mistake: the bot would start with new data and without its settings. */
function checkBotIsKnown(root: string, configDir: string, name: string | undefined): void {
  const known = botsIn(configDir);
  if (name === undefined || known.length === 0 || known.includes(name) || existsSync(join(root, `.env.${name}`)))
    return;
  const folder = shownPath(root, join(configDir, BOTS));
  const detail = `there is no bot called ${name}: ${folder} has ${known.join(', ')}, and there is no .env.${name} either`;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}

function readVariables(env: Environment): z.output<typeof hostEnvironment> {
  // `NAME=` in a .env file means that it is not set.
  const given = Object.fromEntries(
    Object.keys(hostEnvironment.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const parsed = hostEnvironment.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const detail = `the environment variable ${String(issue?.path[0])} ${issue?.message}`;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}

interface FilesOfHost {
  readonly shared?: ConfigFile;
  readonly own?: ConfigFile;
}

/** Reads every file that may apply somewhere, so that mistakes are reported at the start and not at the first message of a guild. */
function readFiles(root: string, dir: string, botName: string | undefined): FilesOfHost {
  const found: { shared?: ConfigFile; own?: ConfigFile } = {};
  for (const name of presentFiles(dir, botName)) {
    const path = join(dir, name);
    const hostKeys = hostKeysOf(name, botName);
    const file = readConfigFile({ path, source: shownPath(root, path), hostKeys });
    if (file === undefined || hostKeys === 'none') continue;
    found[hostKeys === 'all' ? 'shared' : 'own'] = file;
  }
  return found;
}

function listOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/**
 * Makes the data folder if necessary, and checks that it can be written.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID
 */
export function openDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    const detail = `CINNABAR_DATA must be a folder that can be written, but ${path} cannot be used: ${because}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
}
