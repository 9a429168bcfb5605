import { createHash, randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { access, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { underUsualFlags } from './young-generation.js';

/** Scripts that ran without a code cache, by the file that it belongs in. */
const uncached = new Map<string, { readonly script: Script; readonly key: Buffer }>();

/**
 * Runs a script with V8's compiled code of an earlier run, which saves compiling it. Where there is none, or V8 refuses it (another version of
 * Node, other flags), it is compiled, and `saveCodeCaches` keeps what has been compiled by then.
 * @param code an expression, in UTF-8
 * @param file its name in stack traces; the cache is the file beside it with the ending `.v8`
 * @returns the value of the expression
 */
export function runCached(code: Buffer, file: string): unknown {
  const cacheFile = `${file.replace(/\.cjs$/, '')}.v8`;
  // V8 itself compares no more than the length of the source, and runs data that are damaged.
  const key = hashOf(code);
  const cachedData = readCodeCache(cacheFile, key);
  const options = { filename: file, ...(cachedData === undefined ? {} : { cachedData }) };
  const script = underUsualFlags(() => new Script(code.toString(), options));
  if (cachedData === undefined || script.cachedDataRejected === true) uncached.set(cacheFile, { script, key });
  return script.runInThisContext();
}

/** Keeps what V8 has compiled of the scripts that ran without a cache: to be called when they have done what a start has to do. Never rejects. */
export async function saveCodeCaches(): Promise<void> {
  for (const [file, { script, key }] of uncached) {
    uncached.delete(file);
    try {
      // First, since the data take time and memory. A folder that cannot be written has no caches: then each start compiles.
      await access(dirname(file), constants.W_OK);
      const data = underUsualFlags(() => script.createCachedData());
      await replace(file, Buffer.concat([key, hashOf(data), data]));
      await removeLeftovers(dirname(file));
    } catch {}
  }
}

const HASH_BYTES = 32;
/** Of bytes: a string would be copied in three times its size, and once that is freed, glibc gives hardly any memory back to the system. */
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

/** Not the SDK's `replaceFile`: a worker thread, which runs bundles too, does without the SDK. */
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

/** Of a file that is being written, as `replace` names it. */
const UNFINISHED = /\.v8\.[\da-f-]{36}\.new$/;
/** A process that writes for longer has been killed. */
const UNFINISHED_MS = 10 * 60_000;

async function removeLeftovers(folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => UNFINISHED.test(name)).map((name) => join(folder, name));
  for (const file of files) {
    if (Date.now() - (await stat(file)).mtimeMs > UNFINISHED_MS) await rm(file, { force: true });
  }
}
