import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';

// Few imports: the launcher reads this before the host (`cli/main.ts`).

export type Environment = Readonly<Record<string, string | undefined>>;

interface BotEnvironment {
  /** `undefined` for the only bot of a folder. */
  readonly botName: string | undefined;
  /** `.env`, with `--bot claude` also `.env.claude`, and the environment of the process, which takes precedence. */
  readonly env: Environment;
}

/** @param bot the bot's name from the command line; takes precedence over `BOT_NAME` */
export function readEnvironment(root: string, processEnvironment: Environment, bot?: string): BotEnvironment {
  const common = readDotenv(join(root, '.env'));
  const botName = bot ?? (processEnvironment.BOT_NAME || common.BOT_NAME || undefined);
  const own = botName === undefined ? {} : readDotenv(join(root, `.env.${botName}`));
  return { botName, env: { ...common, ...own, ...processEnvironment } };
}

interface Places {
  /** Resolves a path of the configuration. */
  readonly at: (path: string) => string;
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly buildCacheDir: string;
}

/**
 * The places of a bot's files.
 * @param root folder that relative paths start from
 */
export function placesOf(root: string, { botName, env }: BotEnvironment): Places {
  const at = (path: string) => (isAbsolute(path) ? path : resolve(root, path));
  // Bots on one machine share no files that they write.
  const own = (path: string) => (botName === undefined ? at(path) : join(at(path), 'bots', botName));
  const dataDir = own(env.CINNABAR_DATA || 'data');
  const cacheDir = env.CACHE_PATH ? own(env.CACHE_PATH) : join(dataDir, 'cache');
  return { at, dataDir, cacheDir, buildCacheDir: env.BUILD_CACHE_PATH ? at(env.BUILD_CACHE_PATH) : cacheDir };
}

function readDotenv(path: string): Environment {
  try {
    return parseDotenv(readFileSync(path));
  } catch {
    // Usually there is no .env file.
    return {};
  }
}
