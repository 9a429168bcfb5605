import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { t, UserError } from '@cinnabar/sdk';
import type { ReadEntry } from 'tar';
import { foldedPath, MOST_FILES, type SizeLimit, tooLarge } from './files.js';

const LONGEST_PATH = 400;

/** Allowance for the overhead of the tar format: a header before each file, and padding after it. */
const OVERHEAD_BYTES = 10 * 1024 * 1024;

/**
 * Unpacks a tarball of npm into a new folder, without its top folder. Reads it as a stream, and stops when the limit is exceeded. Refuses a tarball with
 * anything but plain files below its top folder.
 * @param name the name of the package, for people
 * @throws UserError
 */
export async function unpackTarball(file: string, folder: string, name: string, limit: SizeLimit): Promise<void> {
  const { Parser } = await import('tar');
  const taken = new Set<string>();
  let writing: Promise<void> = Promise.resolve();
  let failed: unknown;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      const path = checkedPath(entry, name, taken, limit, () => failed !== undefined);
      if (path instanceof UserError) {
        failed ??= path;
        entry.resume();
      } else if (path === undefined) entry.resume();
      else
        writing = writing
          .then(() => write(entry, join(folder, path)))
          .catch((error: unknown) => {
            failed ??= error;
            entry.resume();
          });
    },
  });
  let unpacked = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      unpacked += chunk.length;
      if (unpacked > limit.mostBytes + OVERHEAD_BYTES) return done(tooLarge(name, limit.mostBytes));
      return done(failed === undefined ? null : asError(failed), chunk);
    },
  });
  // Not `events.once`, since the types of the tar parser are not those of Node's streams.
  const broken = new Promise<never>((_, reject) => parser.once('error', reject));
  broken.catch(() => undefined);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await pipeline(createReadStream(file), createGunzip(), counted, async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) {
        if (!parser.write(chunk))
          await Promise.race([broken, new Promise<void>((go) => parser.once('drain', () => go()))]);
      }
      const ended = new Promise<void>((go) => parser.once('end', () => go()));
      parser.end();
      await Promise.race([broken, ended]);
    });
    await writing;
    if (failed !== undefined) throw failed;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      t('The tarball of {package} cannot be read: {detail}', { package: name, detail: asError(error).message }),
      {
        cause: error,
      },
    );
  }
  if (taken.size === 0) throw new UserError(t('The tarball of {package} is empty.', { package: name }));
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** The path of an entry below the folder; `undefined` for a folder, an error for an entry that is not allowed. */
function checkedPath(
  { path, type, size, linkpath = '' }: ReadEntry,
  name: string,
  taken: Set<string>,
  limit: SizeLimit,
  isOver: () => boolean,
): string | UserError | undefined {
  if (isOver()) return undefined;
  const params = { package: name, path };
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.split(/[\\/]/).includes('..'))
    return new UserError(t('The tarball of {package} has a path that leads out of it: {path}', params));
  if (type === 'SymbolicLink' || type === 'Link')
    return new UserError(
      t('The tarball of {package} has a link, {path} to {target}: links are not unpacked.', {
        ...params,
        target: linkpath,
      }),
    );
  if (type === 'Directory' || type === 'GNUDumpDir') return undefined;
  if (type !== 'File' && type !== 'OldFile' && type !== 'ContiguousFile')
    return new UserError(t('The tarball of {package} has something that is no file: {path}', params));
  const [, ...below] = path.split('/').filter((part) => part !== '' && part !== '.');
  const inside = below.join('/');
  if (inside === '')
    return new UserError(t('The tarball of {package} has a file that lies in no folder: {path}', params));
  // Legitimate paths contain no control characters or backslashes, and no colon, which names a stream on Windows.
  if (/[\p{Cc}\\:]/u.test(inside) || inside.length > LONGEST_PATH || !Number.isSafeInteger(size) || size < 0)
    return new UserError(t('The tarball of {package} has a path that no file may have: {path}', params));
  const key = foldedPath(inside);
  if (taken.has(key)) return new UserError(t('The tarball of {package} has the file {path} twice.', params));
  taken.add(key);
  limit.bytes -= size;
  limit.files -= 1;
  if (limit.bytes < 0) return tooLarge(name, limit.mostBytes);
  if (limit.files < 0)
    return new UserError(t('{package} has more than {count} files.', { package: name, count: MOST_FILES }));
  return inside;
}

async function write(entry: ReadEntry, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of entry) await handle.write(chunk);
  } finally {
    await handle.close();
  }
}
