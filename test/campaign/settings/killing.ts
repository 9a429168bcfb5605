import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The output of a killed writer. */
export interface Witness {
  /** Number of operations that were started; they are numbered from 0. */
  readonly started: number;
  readonly saved: ReadonlySet<number>;
  /** Its unexpected output; a writer never ends by itself. */
  readonly complaint: string;
}

/** Runs a writer, and kills it with SIGKILL at its `lines`-th line of output. */
export async function writeUntilKilled(root: string, seed: number, lines: number): Promise<Witness> {
  const writer = spawn(process.execPath, [fileURLToPath(new URL('./writer.js', import.meta.url)), root, String(seed)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let started = 0;
  let complaint = '';
  const saved = new Set<number>();
  let seen = 0;
  writer.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  createInterface(writer.stdout).on('line', (line) => {
    const [what, number] = line.split(' ');
    if (what === 'start') started = Math.max(started, Number(number) + 1);
    if (what === 'saved') saved.add(Number(number));
    seen += 1;
    if (seen === lines) writer.kill('SIGKILL');
  });
  await once(writer, 'close');
  if (writer.signalCode !== 'SIGKILL') complaint += `It ended by itself with ${writer.exitCode}.`;
  return { started, saved, complaint };
}
