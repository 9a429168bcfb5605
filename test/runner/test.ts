/**
 * `npm test`: runs lint, then the tests: end-to-end tests with their data in PostgreSQL, all others with files. CINNABAR_TEST_STORAGE runs the tests with the
 * other storage: `postgres` the tests of every plugin, `files` the end-to-end tests, and a sample of each campaign. The preceding build has checked the types.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);

/** A failing test may leave a server open, for which the runner would wait. Tests with a real Letta server take longer. */
const LONGEST_MS = (process.env.LETTA_BASE_URL === undefined ? 20 : 90) * 60_000;

const SHARED_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

/**
 * The folder for the tests' files: in memory, if the system provides enough of it. Tests sync every write, which would take a third of their time on a disk;
 * tests about power cuts use a recorded disk.
 */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The folder of all files that the tests write. Each test removes its own files, and this process the files of killed tests. */
const folder = mkdtempSync(join(temporaryFolder(), 'cinnabar-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Test files, and the storage of their bots. */
interface Part {
  readonly storage: 'files' | 'postgres';
  readonly files: readonly string[];
  readonly without?: readonly string[];
}

/** They would take a quarter of the time of `npm test`, so a run without a pattern leaves them to CI. */
const CAMPAIGNS = 'test/dist/campaign/*.test.js';
/** Browser tests take longest, so they begin first. */
const END_TO_END = ['test/dist/e2e/web/*.test.js', 'test/dist/e2e/*.test.js'];
const EXAMPLES = 'examples/*/dist/test/**/*.test.js';
const ALL: readonly Part[] = [
  { storage: 'files', files: ['test/dist/**/*.test.js', EXAMPLES], without: ['test/dist/e2e/**', CAMPAIGNS] },
  { storage: 'postgres', files: END_TO_END },
];
const CAMPAIGN_SAMPLES: Part = { storage: 'files', files: [CAMPAIGNS] };
/** The parts by the value of CINNABAR_TEST_STORAGE. */
const PARTS: Readonly<Record<string, readonly Part[]>> = {
  postgres: [{ storage: 'postgres', files: ['test/dist/plugins/**/*.test.js', EXAMPLES] }],
  files: [{ storage: 'files', files: END_TO_END }, CAMPAIGN_SAMPLES],
};

/** Runs a tool of the project with this terminal. @returns whether it succeeded */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    // A shared cache, so that hosts do not build the same plugins repeatedly.
    env: { ...process.env, ...env, TMPDIR: folder, BUILD_CACHE_PATH: join(folder, 'builds') },
    stdio: 'inherit',
    timeout: LONGEST_MS,
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  return status === 0;
}

// `npm test -- PATTERN` runs some tests during development; lint runs only with all tests.
const [pattern, ...rest] = process.argv.slice(2);
const narrowed = pattern === undefined ? [] : ['--grep', pattern];
if (pattern === undefined && !run(bin('biome'), ['check', '.'])) process.exit(1);
const parts =
  PARTS[process.env.CINNABAR_TEST_STORAGE ?? ''] ?? (pattern === undefined ? ALL : [...ALL, CAMPAIGN_SAMPLES]);
const passed = parts.map(({ storage, files, without }) => {
  const ignored = without?.flatMap((path) => ['--ignore', path]) ?? [];
  const args = ['--config', join('test', 'mocharc.json'), ...ignored, ...narrowed, ...rest, ...files];
  return run(bin('mocha'), args, { CINNABAR_TEST_STORAGE: storage });
});
process.exitCode = passed.every(Boolean) ? 0 : 1;
