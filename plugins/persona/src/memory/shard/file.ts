import { copyFile, mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Change } from '../table/change.js';
import { decodeLine, encodeLine } from './line.js';

export interface Loaded {
  readonly changes: readonly Change[];
  /** How many lines are none of ours. */
  readonly damaged: number;
  /** Whether only the last one is: what a crash leaves behind. */
  readonly torn: boolean;
}

/** All changes in the file, in order; none when there is no file. */
export async function readChanges(path: string): Promise<Loaded> {
  const lines = (await readIfThere(path)).split('\n').filter((line) => line.trim() !== '');
  const changes = lines.map(decodeLine);
  const damaged = changes.filter((change) => change === undefined).length;
  return {
    changes: changes.filter((change) => change !== undefined),
    damaged,
    torn: damaged === 1 && changes.at(-1) === undefined,
  };
}

/** Adds a line. When it resolves, the line outlives the machine's going down. */
export async function appendChange(path: string, change: Change): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const last = size === 0 ? '\n' : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
    // What a crash left without its end must not swallow this line. One write: a killed process has written all of it, or none.
    await file.appendFile((last === '\n' ? '' : '\n') + encodeLine(change));
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Puts these changes in the place of all that the file holds, or nothing when it cannot be done. */
export async function replaceChanges(path: string, changes: Iterable<Change>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.appendFile([...changes].map(encodeLine).join(''));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** Keeps a copy of what is damaged: it is about to be written anew without it. */
export async function copyAside(path: string, now: number): Promise<string> {
  const copy = `${path}.corrupt-${new Date(now).toISOString().replaceAll(/[:.]/g, '')}`;
  await copyFile(path, copy);
  return copy;
}

/** Copies of the file, and what a crash left of writing it anew. */
export async function copiesOf(path: string): Promise<readonly string[]> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name)).filter((other) => other.startsWith(`${path}.`));
}

export async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
