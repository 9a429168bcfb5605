import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '@cinnabar/sdk';
import { inspectFolder } from '../discovery.js';
import type { Finding } from './findings.js';
import { checkCatalogues, checkPackage } from './package-checks.js';
import { checkSources, checkTypes, placed } from './source-checks.js';
import type { TrialResult, TrialTask } from './trial.js';
import type { TrialMessage } from './trial-process.js';

interface CheckOptions {
  /** The number of reloads to detect leaks; 0: none. */
  readonly reloads: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders of other plugins that are loaded for the trial, because the plugin injects their services. */
  readonly beside?: readonly string[];
  /** Called with the progress. */
  readonly onStep: (step: string) => void;
}

export interface CheckReport {
  /** The plugin's id from its package; `undefined` when the folder is not a plugin's. */
  readonly id: string | undefined;
  readonly version: string | undefined;
  readonly findings: readonly Finding[];
  readonly errors: number;
  readonly warnings: number;
}

/** Enough reloads to detect a leak of one version in some hundred. */
export const RELOADS = 200;
const SCRIPT = new URL('./trial-process.js', import.meta.url);

/**
 * Checks a plugin's project: its package, types, sources and catalogues, and how it behaves in the real host, in a separate process. Changes nothing in the
 * folder except the cache below its node_modules.
 */
export async function checkPlugin(
  given: string,
  { reloads, env, beside = [], onStep }: CheckOptions,
): Promise<CheckReport> {
  const folder = await realpath(given).catch(() => given);
  const { findings: inPackage, found, file } = await checkPackage(folder);
  if (found === undefined) return reportOf(undefined, undefined, placed(inPackage, []));
  const cache = await cacheOf(folder);
  const hasLocales = existsSync(join(folder, 'locales'));
  onStep('looking at types and sources, and starting it');
  try {
    const task = { found, buildCacheDir: cache.path, reloads, env, beside };
    const [types, sources, tried] = await Promise.all([
      checkTypes(folder, found.entry),
      checkSources(folder, found.entry, file, hasLocales),
      runTrial(task, onStep),
    ]);
    const catalogues = hasLocales ? await checkCatalogues(folder, sources.files, tried.declared) : [];
    const all = [...inPackage, ...types, ...sources.findings, ...tried.findings, ...catalogues];
    return reportOf(found.id, tried.version, placed(all, sources.files));
  } finally {
    await cache.remove();
  }
}

/** Rules of a trial that mean that the plugin does not run at all. */
const KEEP_FROM_STARTING = ['load', 'start'];

/**
 * Starts a plugin on a local Discord, in a separate process with temporary data, and stops it again. A plugin that waits for something (a variable, another
 * plugin) counts as started.
 * @throws UserError with the reason why it does not start
 */
export async function assertStarts(folder: string, options: Pick<TrialTask, 'buildCacheDir' | 'env'>): Promise<void> {
  const found = inspectFolder(await realpath(folder), 'package');
  const { findings } = await runTrial({ found, ...options, reloads: 0, beside: [] }, () => undefined);
  const problem = findings.find(({ rule }) => KEEP_FROM_STARTING.includes(rule));
  if (problem !== undefined) throw new UserError(problem.text);
}

function reportOf(id: string | undefined, version: string | undefined, findings: readonly Finding[]): CheckReport {
  // `error` sorts before `warning`.
  const sorted = findings.toSorted((one, other) => one.level.localeCompare(other.level));
  const errors = findings.filter(({ level }) => level === 'error').length;
  return { id, version, findings: sorted, errors, warnings: findings.length - errors };
}

/** The folder for bundles: a cache of the project if possible, so that the next check is faster; otherwise a temporary folder. */
async function cacheOf(folder: string) {
  const kept = process.env.BUILD_CACHE_PATH;
  if (kept !== undefined) return { path: kept, remove: async () => undefined };
  const modules = join(folder, 'node_modules');
  if (existsSync(modules)) return { path: join(modules, '.cache', 'cinnabar'), remove: async () => undefined };
  const path = await mkdtemp(join(tmpdir(), 'cinnabar-check-cache-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

function runTrial(task: TrialTask, onStep: (step: string) => void): Promise<TrialResult> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(SCRIPT), {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (message: TrialMessage) => {
      if ('step' in message) onStep(message.step);
      else if ('result' in message) resolve(message.result);
      else reject(new Error(message.failure));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the process that tried the plugin ended with ${signal ?? `exit code ${code}`}`)),
    );
    child.send(task);
  });
}
