import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import type { Driver } from '@cinnabar/core';
import { readArchive } from '@cinnabar/core/internal/backup/archive';
import { backUp, recoverData } from '@cinnabar/core/internal/backup/backups';
import { restoreBackup } from '@cinnabar/core/internal/backup/restore';
import { takeInventory } from '@cinnabar/core/internal/cli/storage';
import type { SecretKeys } from '@cinnabar/core/internal/storage/catalog/fields';
import { Header } from 'tar';

export type Files = Readonly<Record<string, string>>;

/** Writes files below a folder. */
export function lay(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** All files below a folder, by path. */
export function filesIn(folder: string): Files {
  const found: [string, string][] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push([path.slice(folder.length + 1), readFileSync(path, 'utf8')]);
  }
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Backs up a data folder. */
export function backedUp(
  dataDir: string,
  file: string,
  options: {
    readonly withSecrets?: boolean;
    readonly secrets?: ReadonlyMap<string, SecretKeys>;
    readonly plugins?: readonly { readonly id: string; readonly version: string }[];
    /** The storage of documents and journals, when it is not the folder. */
    readonly driver?: Pick<Driver, 'frozen'>;
  } = {},
) {
  const {
    withSecrets = false,
    secrets = new Map(),
    plugins = [{ id: 'dice', version: '1.0.0' }],
    driver = {},
  } = options;
  const places = {
    dataDir,
    cacheDir: join(dataDir, 'cache'),
    buildCacheDir: join(dataDir, 'cache'),
    logDir: join(dataDir, 'logs'),
    botName: undefined,
  };
  return backUp(file, places, {
    driver,
    withSecrets,
    secrets,
    plugins: [...plugins],
    now: 0,
  });
}

/** Restores a backup into a data folder and, if there is one, a database. */
export function restored(
  file: string,
  dataDir: string,
  { now = 0, driver }: { readonly now?: number; readonly driver?: Driver } = {},
): ReturnType<typeof restoreBackup> {
  return restoreBackup(file, { dataDir, now, ...(driver === undefined ? {} : { driver }) });
}

/** Repeats the recovery that a start does after a killed process. */
export const recovered = (dataDir: string) => recoverData(dataDir);

/** The verified files of a backup, with their content. */
export async function filesOfBackup(file: string): Promise<Files> {
  const found: [string, string][] = [];
  const { files } = await readArchive(file, {
    async onFile({ path }, content) {
      let text = '';
      for await (const chunk of content) text += chunk.toString();
      found.push([path, text]);
    },
  });
  if (files.length !== found.length) throw new Error(`${found.length} of ${files.length} files were read`);
  return Object.fromEntries(found);
}

/** A value that is equal for equal documents and journals. */
export const heldBy = (driver: Driver) => takeInventory(driver);

export interface ForgedEntry {
  readonly path: string;
  readonly content: string;
  readonly type?: 'File' | 'SymbolicLink' | 'Link' | 'Directory' | 'CharacterDevice';
  readonly linkpath?: string;
}

/** Writes a gzipped tar with any entries. */
export async function forge(file: string, entries: readonly ForgedEntry[]): Promise<void> {
  const blocks = entries.flatMap(({ path, content, type = 'File', linkpath }) => {
    const body = Buffer.from(content);
    const block = Buffer.alloc(512);
    new Header({
      path,
      size: body.length,
      type,
      mode: 0o600,
      mtime: new Date(0),
      ...(linkpath === undefined ? {} : { linkpath }),
    }).encode(block, 0);
    return [block, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  await pipeline(Readable.from([...blocks, Buffer.alloc(1024)]), createGzip(), createWriteStream(file));
}

/** Runs `victim.ts` and kills it after the given time. */
export async function killed(what: 'backup' | 'restore', afterMs: number, ...args: readonly string[]): Promise<void> {
  const victim = spawn(process.execPath, [fileURLToPath(new URL('./victim.js', import.meta.url)), what, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(victim, 'close');
  await Promise.race([once(victim.stdout, 'data'), closed]);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  victim.kill('SIGKILL');
  await closed;
  if (victim.signalCode !== 'SIGKILL') throw new Error(`the victim ended by itself with ${victim.exitCode}`);
}
