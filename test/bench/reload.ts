import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Remains } from './reload/process.js';
import type { TechniqueName } from './reload/technique.js';
import { compare, type Figure } from './report.js';

const ROUNDS = 1_000;
const PROCESS = fileURLToPath(new URL('./reload/process.js', import.meta.url));
const PEER = 'import(file?v=n)';

/** Measures the memory that remains after many reloads of a plugin of 100 KB, and the duration of one. */
export async function* reload(): AsyncGenerator<Figure> {
  const ours = await remains('ours');
  const peer = await remains('import');
  const figure = (name: string, unit: string, of: (remains: Remains) => number, atMost?: number) =>
    compare({
      name: `${name}, ${ROUNDS} reloads of a 100 KB plugin`,
      unit,
      ours: of(ours),
      peer: of(peer),
      peerName: PEER,
      ...(atMost === undefined ? {} : { atMost }),
    });
  yield figure('versions alive', 'versions', ({ alive }) => alive, 0);
  yield figure('heap growth per reload', 'KiB', ({ heapBytesPerReload }) => heapBytesPerReload / 1024, 0.05);
  yield figure('time per reload', 'ms', ({ msPerReload }) => msPerReload);
}

async function remains(technique: TechniqueName): Promise<Remains> {
  const folder = await mkdtemp(join(tmpdir(), 'cinnabar-bench-'));
  try {
    const args = ['--expose-gc', PROCESS, technique, String(ROUNDS), folder];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
