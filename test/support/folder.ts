import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder that is removed after the test. */
export interface Folder extends Disposable {
  readonly path: string;
  write(name: string, text: string): void;
  remove(name: string): void;
}

export function makeFolder(files: Readonly<Record<string, string>> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), 'cinnabar-folder-'));
  let written = 0;
  const write = (name: string, text: string) => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    // Two edits within one tick of the file system's clock get different times.
    written += 1;
    utimesSync(file, written, written);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    path,
    write,
    remove: (name) => rmSync(join(path, name), { recursive: true }),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Leaves a data folder in the state after a killed process. */
export function leaveLocked(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'lock'), JSON.stringify({ pid: 4_194_303, host: hostname() }));
}

/** Locks a data folder like a bot in another process. */
export function lockByAnother(dataDir: string): Disposable {
  const lock = join(dataDir, 'lock');
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(lock, JSON.stringify({ pid: process.ppid, host: hostname() }));
  return { [Symbol.dispose]: () => rmSync(lock) };
}
