import { createHash, randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { access, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { underUsualFlags } from './young-generation.js';

/**
 * Options of a process that V8 also applies to its threads, in place of their limits: with `--max-old-space-size=4096` a document could fill 4 GB. V8 also
 * refuses code caches that were made under other ones.
 */
const HEAP_OPTIONS = ['--max-old-space-size', '--max-semi-space-size', '--max-heap-size'];

/** Resets the options about the size of the heap, before the first code cache is read. The main thread keeps its limits, which V8 has read at its start. */
export function resetHeapOptions(): void {
  for (const option of HEAP_OPTIONS) setFlagsFromString(`${option}=0`);
}

/** Scripts that ran without a code cache, by the path of their cache file. */
const uncached = new Map<string, { readonly script: Script; readonly key: Buffer }>();

/**
 * Runs a script with V8's compiled code of an earlier run, which saves compiling it. Without such code, or when V8 refuses it (another version of Node, other
 * flags), the script is compiled, and `saveCodeCaches` saves the compiled code.
 * @param code an expression, in UTF-8
 * @param file its name in stack traces; the cache is the file beside it with the ending `.v8`
 * @returns the value of the expression
 */
export function runCached(code: Buffer, file: string): unknown {
  const cacheFile = `${file.replace(/\.cjs$/, '')}.v8`;
  // Hashed here, since V8 compares only the length of the source, and does not detect damaged data.
  const key = hashOf(code);
  const cachedData = readCodeCache(cacheFile, key);
  const options = { filename: file, ...(cachedData === undefined ? {} : { cachedData }) };
  const script = underUsualFlags(() => new Script(code.toString(), options));
  if (cachedData === undefined || script.cachedDataRejected === true) uncached.set(cacheFile, { script, key });
  return script.runInThisContext();
}

/** Saves the compiled code of the scripts that ran without a cache; call it when the start is complete. Never rejects. */
export async function saveCodeCaches(): Promise<void> {
  for (const [file, { script, key }] of uncached) {
    uncached.delete(file);
    try {
      // Checked before the data are made, which takes time and memory. When the folder cannot be written, there is no cache, and each start compiles.
      await access(dirname(file), constants.W_OK);
      const data = underUsualFlags(() => script.createCachedData());
      await replace(file, Buffer.concat([key, hashOf(data), data]));
      await removeLeftovers(dirname(file));
    } catch {}
  }
}

const HASH_BYTES = 32;
/** The SHA-256 of bytes. Does not accept a string, which would take three times the size, and glibc returns hardly any of that memory to the system. */
export const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest();

function readCodeCache(file: string, key: Buffer): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const [data, start] = [content.subarray(2 * HASH_BYTES), content.subarray(0, 2 * HASH_BYTES)];
    return start.equals(Buffer.concat([key, hashOf(data)])) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces a file atomically. Not with the SDK's `replaceFile`, since worker threads, which also run bundles, do not load the SDK. */
async function replace(file: string, content: Buffer): Promise<void> {
  const fresh = `${file}.${randomUUID()}.new`;
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** Matches the temporary files of `replace`. */
const UNFINISHED = /\.v8\.[\da-f-]{36}\.new$/;
/** Older temporary files were left by a process that was killed. */
const UNFINISHED_MS = 10 * 60_000;

async function removeLeftovers(folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => UNFINISHED.test(name)).map((name) => join(folder, name));
  for (const file of files) {
    if (Date.now() - (await stat(file)).mtimeMs > UNFINISHED_MS) await rm(file, { force: true });
  }
}
