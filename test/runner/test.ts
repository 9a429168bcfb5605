/**
 * `npm test`: lint, then every test; with CINNABAR_TEST_STORAGE=postgres whole bots and every plugin's tests, with their data in PostgreSQL. Types are
 * checked by the build that came before. Exits with the first failure's code.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);

/** A test that fails may leave a server open, and the runner waiting for it. Stories at a real Letta server take their time. */
const LONGEST_MS = (process.env.LETTA_BASE_URL === undefined ? 20 : 90) * 60_000;

const SHARED_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

/**
 * Where tests put their folders: into memory, where the system offers it with enough room. They sync every write, and a third of their time
 * would be the disk's; what they claim about a disk that loses power is tested on a recorded one.
 */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Everything that the tests write; each of them removes its own, and this what a killed one left. */
const folder = mkdtempSync(join(temporaryFolder(), 'cinnabar-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs a tool of the project; its output is the person's. */
function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    // One host after the other would build the same plugins otherwise.
    env: { ...process.env, TMPDIR: folder, BUILD_CACHE_PATH: join(folder, 'builds') },
    stdio: 'inherit',
    timeout: LONGEST_MS,
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

// `npm test -- PATTERN` narrows the run while working: lint only when everything is tested.
const [pattern, ...rest] = process.argv.slice(2);
if (pattern === undefined) run(bin('biome'), ['check', '.']);
run(bin('mocha'), [
  '--config',
  join('test', process.env.CINNABAR_TEST_STORAGE === 'postgres' ? 'mocharc.postgres.json' : 'mocharc.json'),
  ...(pattern === undefined ? [] : ['--grep', pattern]),
  ...rest,
]);
