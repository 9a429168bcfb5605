import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type HostEnd, UserError } from '@cinnabar/sdk';
import { bundleDirOf, IS_SOURCE_TREE } from '../bundling/built.js';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig, openDataDir } from '../config/load.js';
import { createHost, type StopReport } from '../host.js';
import { isSecretName } from '../observability/log-entry.js';
import type { BuiltPlugins } from '../plugins/loader.js';
import { guardProcess } from '../process/errors.js';
import { listenToSignals, RESTART_CODE, relaunchOf, runAgain } from '../process/signals.js';
import { startWatchdog } from '../process/watchdog.js';
import { HOST_VERSION } from '../version.js';
import { ownersLink } from './dashboard-link.js';

/**
 * `cinnabar start` with a token: runs the bot until it stops.
 * @returns the exit code; `undefined` when there is no token: nothing was started then
 */
export async function startOnDiscord(args: readonly string[], options: StartOptions): Promise<number | undefined> {
  const config = loadConfig(process.cwd(), process.env, readArguments(args).bot);
  if (config.token === undefined) return undefined;
  const relaunch = relaunchOf(process.env);
  prepare(config, process.env);
  const run = readArguments(args).cluster ? (await import('./cluster.js')).runMember : runBot;
  const code = await run({ ...config, token: config.token }, process, options);
  return code === RESTART_CODE && relaunch !== undefined ? runAgain(relaunch, process) : code;
}

/**
 * Called before the bot is started: its data folder exists, and the environment holds no secrets any more, since the configuration has its own copy.
 */
export function prepare(config: HostConfig, env: NodeJS.ProcessEnv): void {
  openDataDir(config.dataDir);
  scrubEnvironment(env);
}

/** Carries out a command, then ends the process with its exit code. */
export async function endWith(command: () => Promise<number>): Promise<void> {
  // The host's timers do not keep the process alive while it waits for Discord or stops.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  process.exitCode = await command();
  clearInterval(keepAlive);
  // A request that hangs, or a timer that a plugin has left, must not keep the process alive; output must be written completely.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}

/** The SDKs of cloud providers read these from the process itself. They exist in containers only and have no value elsewhere. */
const NEEDED = new Set(['AWS_CONTAINER_AUTHORIZATION_TOKEN']);
/** Contains a password, although its name does not say so. */
const DATABASE = 'DATABASE_URL';

/**
 * Removes tokens and keys from the environment of the process, after the configuration has read them and before any plugin is evaluated: a plugin gets only
 * those that it has declared. Child processes do not inherit them either.
 */
function scrubEnvironment(env: NodeJS.ProcessEnv): void {
  const names = Object.keys(env).filter((name) => (isSecretName(name) || name === DATABASE) && !NEEDED.has(name));
  for (const name of names) delete env[name];
}

export interface StartOptions {
  /** See `HostOptions`. */
  readonly builtPlugins?: BuiltPlugins;
  /** Called once the bot is ready; without it, the next start is made faster. Must not throw. */
  readonly onReady?: () => void;
}

/** Called once the process serves requests: builds the bundle for the next start, unless `onReady` is given. */
export function started(
  { buildCacheDir }: Pick<HostConfig, 'buildCacheDir'>,
  onReady: StartOptions['onReady'],
  say: (sentence: string) => void,
): void {
  if (onReady !== undefined) onReady();
  else bundleForNextStart(buildCacheDir, () => say('the host could not be bundled, so the next start takes as long.'));
}

/**
 * Runs the bot on Discord until a signal or an owner stops it.
 * @returns the exit code: 0 when it has stopped, 1 when not everything could be saved in time, `RESTART_CODE` when it is to be started again
 */
async function runBot(
  config: HostConfig & { readonly token: string },
  process: NodeJS.Process,
  { builtPlugins, onReady }: StartOptions,
): Promise<number> {
  const say = sayOn(process);
  let requestEnd: (how: HostEnd) => void = () => undefined;
  const requested = new Promise<HostEnd>((resolve) => {
    requestEnd = resolve;
  });
  const host = createHost({
    config,
    terminal: { stream: process.stderr, level: config.logLevel },
    watchdog: startWatchdog(),
    onEndRequest: requestEnd,
    ...(builtPlugins === undefined ? {} : { builtPlugins }),
  });
  const release = guardProcess(process, host.uncaught);
  const signals = listenToSignals(process, say);
  const stopped = signals.first;
  let isRestart = false;
  try {
    // A stop during the login does not wait for the login.
    const first = await Promise.race([host.start(config.token), stopped]);
    if (typeof first !== 'string') {
      const { running } = first;
      const guilds = host.client.guilds.cache.size;
      process.stdout.write(
        `Cinnabar ${HOST_VERSION} is ready as ${host.client.user?.tag} in ${guilds} ${guilds === 1 ? 'guild' : 'guilds'}, with ${running.length} plugins: ${running.join(', ')}.\n`,
      );
      const link = await ownersLink(host);
      // Printed on the terminal only: log files must not contain the link.
      if (link !== undefined)
        process.stdout.write(`The dashboard signs the owner of the bot in, once, within ten minutes: ${link}\n`);
      started(config, onReady, say);
      const ended = await Promise.race([stopped, requested, host.ended]);
      if (typeof ended !== 'string') throw ended;
      isRestart = ended === 'restart';
    }
  } catch (error) {
    await host.stop();
    throw error;
  }
  const report = await host.stop();
  release();
  say(wordsOf(report));
  signals.release();
  if (isRestart) return RESTART_CODE;
  return report.saved ? 0 : 1;
}

/** Text for people at the terminal, in addition to the log. */
export function sayOn({ stderr }: Pick<NodeJS.Process, 'stderr'>): (sentence: string) => void {
  return (sentence) => void stderr.write(`cinnabar: ${sentence}\n`);
}

/** The result of a stop, in one line. */
function wordsOf({ unfinished, saved }: StopReport): string {
  const cutShort = unfinished.length === 0 ? '' : ` Cut short: ${unfinished.join(', ')}.`;
  return `stopped.${cutShort}${saved ? '' : ' Not everything could be saved in time.'}`;
}

/** The parsed arguments of the command line. */
export interface Arguments {
  readonly command: string;
  /** The operands of the command, without options. */
  readonly operands: readonly string[];
  /** `--bot NAME` */
  readonly bot: string | undefined;
  /** `--bot-id ID`: the bot's user id on Discord, for `import`. */
  readonly botId: string | undefined;
  /** `--cluster`, of `start` */
  readonly cluster: boolean;
  /** `--dry-run` */
  readonly dryRun: boolean;
  /** `--json`, of `doctor`, `check`, `pack` and `plugin` */
  readonly json: boolean;
  /** `--quick`, of `check` and `pack`: does not look for leaks. */
  readonly quick: boolean;
  /** `--with FOLDER`, of `check`, `pack` and `dev`: other plugins that are loaded, too. */
  readonly beside: readonly string[];
  /** Whether `new` installs what a project depends on; `--no-install` leaves it. */
  readonly install: boolean;
  /** `--project`: a bot's, of `new`. */
  readonly project: boolean;
  /** `--yes`, of `plugin`: consents without a question. */
  readonly yes: boolean;
  /** `--with-data`, of `plugin remove` */
  readonly withData: boolean;
  /** `--overwrite` */
  readonly overwrite: boolean;
  /** The source of a copy of the storage: `files` or `postgres`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** `--verify`: reads a backup, and makes none; of `plugin list`, reads all files. */
  readonly verify: boolean;
  /** `--with-secrets` */
  readonly withSecrets: boolean;
  /** The options of `eval`, as they were written. */
  readonly evaluation: EvaluationArguments;
}

interface EvaluationArguments {
  /** `--model ROUTE`, several times for several */
  readonly models: readonly string[];
  /** `--plugin ID` */
  readonly plugins: readonly string[];
  /** `--tool NAME` */
  readonly tools: readonly string[];
  /** `--distractors N` */
  readonly distractors: string | undefined;
  /** `--seed N` */
  readonly seed: string | undefined;
  /** `--max-cost USD` */
  readonly maxCost: string | undefined;
  /** `--at-least PERCENT` */
  readonly atLeast: string | undefined;
}

/** @throws UserError for an unknown option */
export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        bot: { type: 'string' },
        'bot-id': { type: 'string' },
        cluster: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        'no-install': { type: 'boolean', default: false },
        overwrite: { type: 'boolean', default: false },
        yes: { type: 'boolean', short: 'y', default: false },
        'with-data': { type: 'boolean', default: false },
        project: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        with: { type: 'string', multiple: true, default: [] },
        from: { type: 'string' },
        to: { type: 'string' },
        verify: { type: 'boolean', default: false },
        'with-secrets': { type: 'boolean', default: false },
        model: { type: 'string', multiple: true, default: [] },
        plugin: { type: 'string', multiple: true, default: [] },
        tool: { type: 'string', multiple: true, default: [] },
        distractors: { type: 'string' },
        seed: { type: 'string' },
        'max-cost': { type: 'string' },
        'at-least': { type: 'string' },
        version: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [first = 'start', ...operands] = positionals;
    const command = values.help ? 'help' : values.version ? 'version' : first;
    return {
      command,
      operands,
      bot: values.bot,
      botId: values['bot-id'],
      cluster: values.cluster,
      dryRun: values['dry-run'],
      install: !values['no-install'],
      overwrite: values.overwrite,
      yes: values.yes,
      withData: values['with-data'],
      project: values.project,
      json: values.json,
      quick: values.quick,
      beside: values.with,
      from: values.from,
      to: values.to,
      verify: values.verify,
      withSecrets: values['with-secrets'],
      evaluation: {
        models: values.model,
        plugins: values.plugin,
        tools: values.tool,
        distractors: values.distractors,
        seed: values.seed,
        maxCost: values['max-cost'],
        atLeast: values['at-least'],
      },
    };
  } catch (error) {
    // The first sentence of a message of `parseArgs` names the mistake, the others explain how to escape a dash.
    throw error instanceof TypeError ? new UserError(`${error.message.split('. ')[0]}.`, { cause: error }) : error;
  }
}

/**
 * After a start without a bundle, installed packages are bundled in a separate process with low priority, so that neither this start nor the next one waits.
 * The source tree is bundled before a start (`core/bootstrap.mjs`).
 * @param onFailure called when that did not work: the next start takes as long as this one, and tries again
 */
function bundleForNextStart(buildCacheDir: string, onFailure: () => void): void {
  if (IS_SOURCE_TREE) return;
  const script = fileURLToPath(new URL('../cli/build-host.js', import.meta.url));
  const args = [script, String(Date.now()), bundleDirOf(buildCacheDir)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  child.once('error', onFailure);
  child.once('exit', (code) => {
    // The stop of the bot may have stopped this process, too.
    if (code !== 0 && code !== null) onFailure();
  });
  child.unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Where a lower priority is not allowed, it runs with the normal one.
  }
}
