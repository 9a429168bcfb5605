/**
 * `npm test`: lint, then every test: whole bots from end to end with their data in PostgreSQL, all others in files. CINNABAR_TEST_STORAGE runs what has not
 * run on that storage then: `postgres` the tests of every plugin, `files` those from end to end. Types are checked by the build that came before.
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

/** Tests, and where the bots in them keep their data. */
interface Part {
  readonly storage: 'files' | 'postgres';
  readonly files: readonly string[];
  readonly without?: string;
}

/** Those in a browser take longest, and begin first. */
const END_TO_END = ['test/dist/e2e/web/*.test.js', 'test/dist/e2e/*.test.js'];
const EXAMPLES = 'examples/*/dist/test/**/*.test.js';
const ALL: readonly Part[] = [
  { storage: 'files', files: ['test/dist/**/*.test.js', EXAMPLES], without: 'test/dist/e2e/**' },
  { storage: 'postgres', files: END_TO_END },
];
/** By the value of CINNABAR_TEST_STORAGE. */
const PARTS: Readonly<Record<string, readonly Part[]>> = {
  postgres: [{ storage: 'postgres', files: ['test/dist/plugins/**/*.test.js', EXAMPLES] }],
  files: [{ storage: 'files', files: END_TO_END }],
};

/** Runs a tool of the project; its output is the person's. @returns whether it succeeded */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    // One host after the other would build the same plugins otherwise.
    env: { ...process.env, ...env, TMPDIR: folder, BUILD_CACHE_PATH: join(folder, 'builds') },
    stdio: 'inherit',
    timeout: LONGEST_MS,
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  return status === 0;
}

// `npm test -- PATTERN` narrows the run while working: lint only when everything is tested.
const [pattern, ...rest] = process.argv.slice(2);
const narrowed = pattern === undefined ? [] : ['--grep', pattern];
if (pattern === undefined && !run(bin('biome'), ['check', '.'])) process.exit(1);
const parts = PARTS[process.env.CINNABAR_TEST_STORAGE ?? ''] ?? ALL;
const passed = parts.map(({ storage, files, without }) => {
  const ignored = without === undefined ? [] : ['--ignore', without];
  const args = ['--config', join('test', 'mocharc.json'), ...ignored, ...narrowed, ...rest, ...files];
  return run(bin('mocha'), args, { CINNABAR_TEST_STORAGE: storage });
});
process.exitCode = passed.every(Boolean) ? 0 : 1;
