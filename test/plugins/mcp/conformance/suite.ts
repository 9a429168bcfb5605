import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from '@cinnabar/sdk';

/** The result of a scenario. */
export interface ScenarioResult {
  readonly scenario: string;
  /** Names of the scenario's checks, without informational ones. */
  readonly checks: readonly string[];
  readonly failures: readonly string[];
}

const checksSchema = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

const cli = join(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'),
  '../dist/index.js',
);

/**
 * The suite's command imports a function of `node:fs` that Node 20 does not have, and uses it only to rate SDK repositories: a loader hook provides a
 * replacement that is never called.
 */
const hook = `import { register } from 'node:module';
const shim = 'data:text/javascript,' + encodeURIComponent("export * from 'node:fs'; export const globSync = undefined;");
const hooks = 'export const resolve = (name, context, next) => name === "fs" && context.parentURL?.includes("/conformance/dist/")' +
  ' ? { url: ' + JSON.stringify(shim) + ', shortCircuit: true } : next(name, context);';
register('data:text/javascript,' + encodeURIComponent(hooks));`;

/** Runs the official suite's command and reads the results of its checks. */
export async function runConformance(
  mode: 'client' | 'server',
  target: readonly string[],
  scenario?: string,
): Promise<readonly ScenarioResult[]> {
  const results = await mkdtemp(join(tmpdir(), 'cinnabar-conformance-'));
  try {
    const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
    const chosen = scenario === undefined ? [] : ['--scenario', scenario];
    const output = await run(process.execPath, ['--import', preload, cli, mode, ...target, ...chosen, '-o', results]);
    const files = (await readdir(results, { recursive: true })).filter((file) => basename(file) === 'checks.json');
    const found = await Promise.all(files.map((file) => readResult(mode, results, dirname(file))));
    if (found.length === 0) throw new Error(`the suite left no result: ${output}`);
    return found.sort((a, b) => (a.scenario < b.scenario ? -1 : 1));
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** The exit code tells only whether a check failed; the details are in the results. */
function run(command: string, parameters: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, parameters, { timeout: 60_000 }, (_error, stdout, stderr) => resolve(`${stdout}\n${stderr}`));
  });
}

/** The folder's name is `server-<scenario>-<time>` or `<scenario>-<time>`. */
async function readResult(mode: string, results: string, folder: string): Promise<ScenarioResult> {
  const checks = checksSchema.parse(JSON.parse(await readFile(join(results, folder, 'checks.json'), 'utf8')));
  const made = checks.filter(({ status }) => status !== 'INFO' && status !== 'SKIPPED');
  return {
    scenario: folder.replace(/-\d{4}-\d\d-\d\dT.*$/, '').slice(mode === 'server' ? 'server-'.length : 0),
    checks: made.map(({ id }) => id),
    failures: made
      .filter(({ status }) => status !== 'SUCCESS')
      .map(({ id, status, errorMessage }) => `${id}: ${status} ${errorMessage ?? ''}`),
  };
}
