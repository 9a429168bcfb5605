import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from '../../release/packages.js';

/** A machine with Node and npm, but without this project. */
export interface Machine {
  /** `v24.1.0` */
  readonly version: string;
  /** Runs a command to its end. Does not reject for an exit code. */
  run(folder: string, command: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a command that keeps running; the caller stops it. */
  open(folder: string, command: string, args: readonly string[], options?: RunOptions): Running;
  /** Ends all running commands with their child processes. */
  end(): void;
}

interface RunOptions {
  /** In addition to the common environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Complete standard input; without it, `run` provides none. */
  readonly input?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  /** Standard error without npm's own lines. */
  readonly err: string;
}

export interface Running {
  readonly ended: Promise<Ran>;
  /** Resolves with the output (standard output and error) since the last call, as soon as it matches; rejects when the command ends, or after `timeoutMs`. */
  prints(pattern: RegExp, timeoutMs?: number): Promise<string>;
  write(line: string): void;
  stop(signal?: NodeJS.Signals): Promise<Ran>;
}

const LONGEST_MS = 300_000;
const SOON_MS = 60_000;
const GRACE_MS = 20_000;
/** A developer's own settings, and variables that npm sets for this project's scripts. */
const NOT_INHERITED =
  /^(DISCORD|CINNABAR|OPENAI|ANTHROPIC|LETTA|LOG_LEVEL|BUILD_CACHE|CACHE_PATH|BOT_NAME|NODE_OPTIONS|NODE_PATH|NODE_ENV|npm_package|npm_lifecycle|npm_config_local|npm_config_prefix|npm_command|INIT_CWD)/;

/** npm's downloads, kept for the next run; packages installed by `npx` would be those of an earlier run. */
const NPM_CACHE = join(ROOT, 'node_modules', '.cache', 'cinnabar-npm');
export const forgetNpx = (): void => rmSync(join(NPM_CACHE, '_npx'), { recursive: true, force: true });

/** npm's messages about its configuration on this machine. */
const OF_NPM = /^npm (?:warn|notice) .*\n/gm;

/**
 * @param node the executable of Node
 * @param registry the address of the registry for npm
 */
export function createMachine(node: string, registry: string): Machine {
  const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name));
  const common = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    NO_COLOR: '1',
    npm_config_registry: registry,
    npm_config_cache: NPM_CACHE,
    npm_config_fetch_retries: '1',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  const started = new Set<ChildProcess>();
  const open: Machine['open'] = (folder, command, args, { env = {}, input } = {}) => {
    // A separate process group, so that its child processes can be ended.
    const child = spawn(command, args, { cwd: folder, env: { ...common, ...env }, stdio: 'pipe', detached: true });
    started.add(child);
    const seen = { out: '', err: '', all: '' };
    let read = 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen.out += text;
      seen.all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      seen.err += text;
      seen.all += text;
    });
    // A command that ends early does not read its whole input.
    child.stdin.on('error', () => undefined);
    if (input !== undefined) child.stdin.end(input);
    const ended = once(child, 'close').then(() => {
      started.delete(child);
      return { code: child.exitCode, out: seen.out, err: seen.err.replace(OF_NPM, '') };
    });
    return {
      ended,
      write: (line) => void child.stdin.write(`${line}\n`),
      stop: (signal = 'SIGTERM') => stop(child, ended, signal),
      async prints(pattern, timeoutMs = SOON_MS) {
        const matched = new Promise<string>((resolve) => {
          const look = () => {
            const fresh = seen.all.slice(read);
            if (!pattern.test(fresh)) return;
            read = seen.all.length;
            child.stdout.off('data', look);
            child.stderr.off('data', look);
            resolve(fresh);
          };
          child.stdout.on('data', look);
          child.stderr.on('data', look);
          look();
        });
        const never = (why: string) =>
          new Error(`${command} ${args.join(' ')} ${why} ${pattern}: ${seen.all.slice(-2_000)}`);
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(never(`did not print within ${timeoutMs / 1000} s`)), timeoutMs);
        });
        const gone = ended.then(() => Promise.reject(never('ended without')));
        try {
          return await Promise.race([matched, late, gone]);
        } finally {
          clearTimeout(timer);
        }
      },
    };
  };
  return {
    version: spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim(),
    open,
    end: () => started.forEach(killGroup),
    async run(folder, command, args, options = {}) {
      const running = open(folder, command, args, { ...options, input: options.input ?? '' });
      const timer = setTimeout(() => void running.stop('SIGKILL'), LONGEST_MS);
      try {
        return await running.ended;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function stop(child: ChildProcess, ended: Promise<Ran>, signal: NodeJS.Signals): Promise<Ran> {
  const timer = setTimeout(() => killGroup(child), GRACE_MS);
  if (signal === 'SIGKILL') killGroup(child);
  else child.kill(signal);
  try {
    return await ended;
  } finally {
    clearTimeout(timer);
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

/** The oldest and the newest supported major version of Node. */
const MAJORS = [20, 24];

/**
 * Executables of Node: those in `CINNABAR_NODES`, separated by commas; else this process's for its major version, and for the others the npm package `node`,
 * which is kept for the next run.
 */
export function findNodes(): readonly string[] {
  const given = process.env.CINNABAR_NODES?.split(',').map((path) => path.trim());
  return (
    given ??
    MAJORS.map((major) => (process.versions.node.startsWith(`${major}.`) ? process.execPath : fetchNode(major)))
  );
}

/** npm's registry on this machine. */
export function registryOfNpm(): string {
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return stdout.trim();
}

function fetchNode(major: number): string {
  const folder = join(ROOT, 'node_modules', '.cache', 'cinnabar-nodes', String(major));
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const node = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${major}`];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
  if (status !== 0 || !existsSync(node)) throw new Error(`Node ${major} could not be fetched: ${stderr}`);
  return node;
}
