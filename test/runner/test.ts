/**
 * `npm test`: runs lint, then the tests: end-to-end tests with their data in PostgreSQL, all others with files. CINNABAR_TEST_STORAGE runs the tests with the
 * other storage: `postgres` the tests of every plugin, `files` the end-to-end tests, and those that take long. The preceding build has checked the types.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const tool = (path: string) => join(root, 'node_modules', ...path.split('/'));
const BIOME = tool('@biomejs/biome/bin/biome');
const MOCHA = tool('mocha/bin/mocha.js');

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

/** A sample of each campaign, and of what a benchmark simulates. They would take a quarter of the time of `npm test`, so a run of all tests leaves them to CI. */
const LONG = 'test/dist/{bench,campaign}/*.test.js';
/** Browser tests take longest, so they begin first. */
const END_TO_END = ['test/dist/e2e/web/*.test.js', 'test/dist/e2e/*.test.js'];
const EXAMPLES = 'examples/*/dist/test/**/*.test.js';
const ALL = [...END_TO_END, 'test/dist/!(bench|campaign|e2e)/**/*.test.js', EXAMPLES];
/** The test files by the value of CINNABAR_TEST_STORAGE. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  postgres: ['test/dist/plugins/**/*.test.js', EXAMPLES],
  files: [...END_TO_END, LONG],
};

/** Runs a tool of the project with this terminal. @returns whether it succeeded */
function run(program: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(process.execPath, [program, ...args], {
    cwd: root,
    // A shared cache, so that hosts do not build the same plugins repeatedly.
    env: { ...process.env, TMPDIR: folder, BUILD_CACHE_PATH: join(folder, 'builds') },
    stdio: 'inherit',
    timeout: LONGEST_MS,
  });
  if (error !== undefined) throw error;
  return status === 0;
}

// `npm test -- PATTERN` runs some tests during development; lint runs only with all tests.
const [pattern, ...rest] = process.argv.slice(2);
const narrowed = pattern === undefined ? [] : ['--grep', pattern];
if (pattern === undefined && !run(BIOME, ['check', '.'])) process.exit(1);
const files = CHOSEN[process.env.CINNABAR_TEST_STORAGE ?? ''] ?? (pattern === undefined ? ALL : [...ALL, LONG]);
const args = ['--config', join('test', 'mocharc.json'), ...narrowed, ...rest, ...files];
process.exitCode = run(MOCHA, args) ? 0 : 1;
