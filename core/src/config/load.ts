import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { CinnabarError } from '@cinnabar/sdk';
import { parse as parseDotenv } from 'dotenv';
import { z } from 'zod';
import { readConfigFile } from './file.js';
import type { HostConfig } from './host-config.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that the host itself reads; plugins declare their own. */
export const hostEnvironment = z.object({
  DISCORD_TOKEN: z.string().optional().describe('Bot token. Without it, `npm start` opens the local Discord.'),
  DISCORD_API: z
    .url('must be a URL such as http://127.0.0.1:3000/api')
    .optional()
    .describe('REST base instead of Discord itself.'),
  CINNABAR_DATA: z.string().optional().describe('Where data, caches and logs live; ./data by default.'),
  CINNABAR_CONFIG: z.string().optional().describe('Folder of the configuration; ./config by default.'),
  CINNABAR_PLUGINS: z.string().optional().describe('More plugin folders, separated by commas.'),
  CINNABAR_OWNERS: z
    .string()
    .regex(/^\d{15,22}(,\s*\d{15,22})*$/, 'must be Discord user ids, separated by commas')
    .optional()
    .describe('Bot owners by user id, separated by commas.'),
  LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'debug'])
    .optional()
    .describe('Least level that is logged; info by default.'),
});

/**
 * Reads `.env`, the environment (which wins) and `shared.yaml` into one configuration.
 * @param root folder that relative paths start from
 * @throws CinnabarError CINNABAR_CONFIG_INVALID, naming the variable, or the file and line
 */
export function loadConfig(root: string, processEnvironment: Environment): HostConfig {
  const env = { ...readDotenv(join(root, '.env')), ...processEnvironment };
  // `NAME=` in a .env file means that it is not set.
  const given = Object.fromEntries(
    Object.keys(hostEnvironment.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const parsed = hostEnvironment.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const detail = `the environment variable ${String(issue?.path[0])} ${issue?.message}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
  }
  const variables = parsed.data;
  const at = (path: string) => (isAbsolute(path) ? path : resolve(root, path));
  const file = readConfigFile(join(at(variables.CINNABAR_CONFIG ?? 'config'), 'shared.yaml'));
  const dataDir = at(variables.CINNABAR_DATA ?? 'data');
  const list = (text: string | undefined) =>
    text === undefined
      ? []
      : text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean);

  return {
    token: variables.DISCORD_TOKEN,
    discordApi: variables.DISCORD_API ?? file.host?.discordApi,
    root,
    dataDir,
    logDir: join(dataDir, 'logs'),
    logLevel: variables.LOG_LEVEL ?? file.host?.logLevel ?? 'info',
    prefixes: file.host?.prefixes ?? ['!'],
    owners: [...list(variables.CINNABAR_OWNERS), ...(file.host?.owners ?? [])],
    pluginFolders: [...(file.host?.plugins?.folders ?? []), ...list(variables.CINNABAR_PLUGINS)].map(at),
    disabledPlugins: file.host?.plugins?.disabled ?? [],
    presets: file.settings ?? {},
    env,
  };
}

function readDotenv(path: string): Environment {
  try {
    return parseDotenv(readFileSync(path));
  } catch {
    // No .env file is the ordinary case.
    return {};
  }
}
