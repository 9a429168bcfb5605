/** `npm test`: lint, then every test. Types are checked by the build that came before. Exits with the first failure's code. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);

/** A test that fails may leave a server open, and the runner waiting for it. Stories at a real Letta server take their time. */
const LONGEST_MS = (process.env.LETTA_BASE_URL === undefined ? 20 : 90) * 60_000;

/** Runs a tool of the project; its output is the person's. */
function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
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
  join('test', 'mocharc.json'),
  ...(pattern === undefined ? [] : ['--grep', pattern]),
  ...rest,
]);
