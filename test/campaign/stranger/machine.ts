import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from '../../release/packages.js';

/** A machine of somebody who has Node, npm, and nothing of this project. */
export interface Machine {
  /** `v24.1.0` */
  readonly version: string;
  /** Runs a command to its end. Never rejects for what it exits with. */
  run(folder: string, command: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a command that goes on; the caller stops it. */
  open(folder: string, command: string, args: readonly string[], options?: RunOptions): Running;
  /** Ends whatever still runs, with all that it has started. */
  end(): void;
}

interface RunOptions {
  /** Besides what every command gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input; without it, `run` gives none. */
  readonly input?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  /** Standard error, but for what npm says by itself. */
  readonly err: string;
}

export interface Running {
  readonly ended: Promise<Ran>;
  /** Resolves with what it has printed (output and errors) since the last call, as soon as that matches; rejects when it ends, or after `timeoutMs`. */
  prints(pattern: RegExp, timeoutMs?: number): Promise<string>;
  write(line: string): void;
  stop(signal?: NodeJS.Signals): Promise<Ran>;
}

const LONGEST_MS = 300_000;
const SOON_MS = 60_000;
const GRACE_MS = 20_000;
/** What a developer may have set for themselves, and what npm tells the scripts of this project. */
const NOT_INHERITED =
  /^(DISCORD|CINNABAR|OPENAI|ANTHROPIC|LETTA|LOG_LEVEL|BUILD_CACHE|CACHE_PATH|BOT_NAME|NODE_OPTIONS|NODE_PATH|NODE_ENV|npm_package|npm_lifecycle|npm_config_local|npm_config_prefix|npm_command|INIT_CWD)/;

/** What npm has fetched, for the next time; what `npx` has installed would be that of an earlier run. */
const NPM_CACHE = join(ROOT, 'node_modules', '.cache', 'cinnabar-npm');
export const forgetNpx = (): void => rmSync(join(NPM_CACHE, '_npx'), { recursive: true, force: true });

/** What npm says of its own configuration on this machine. */
const OF_NPM = /^npm (?:warn|notice) .*\n/gm;

/**
 * @param node the executable of Node
 * @param registry the address of the registry that npm asks
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
    // A group of its own, so that nothing that it starts outlives it.
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
    // What ends early has not read everything.
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
    // It has ended meanwhile.
  }
}

/** The oldest and the newest line of Node that are tried. */
const MAJORS = [20, 24];

/**
 * Executables of Node: those that `CINNABAR_NODES` names, separated by commas; else this one for its own line, and for the others the one that npm
 * brings, kept for the next time.
 */
export function findNodes(): readonly string[] {
  const given = process.env.CINNABAR_NODES?.split(',').map((path) => path.trim());
  return (
    given ??
    MAJORS.map((major) => (process.versions.node.startsWith(`${major}.`) ? process.execPath : fetchNode(major)))
  );
}

/** The registry that npm asks on this machine. */
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
