import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder, removeFiles, replaceFile, z } from '@cinnabar/sdk';
import { type Fingerprint, sha256 } from './fingerprint.js';

/** A bundle on disk, with all that tells whether it still holds. */
export interface CachedBundle {
  readonly code: string;
  /** Versions of what made it. */
  readonly madeBy: string;
  readonly inputs: readonly Fingerprint[];
}

const trailerSchema = z.object({
  madeBy: z.string(),
  codeHash: z.string(),
  inputs: z.array(z.object({ path: z.string(), size: z.number(), mtimeMs: z.number(), hash: z.string() })),
});

/** The facts follow the code, on a line of their own: there they shift no line of the source map. */
const TRAILER = '\n//cinnabar-cache ';

/** Reads a cache file; `undefined` when there is none, or when it is damaged in any way. */
export async function readCacheFile(file: string): Promise<CachedBundle | undefined> {
  try {
    const content = await readFile(file, 'utf8');
    const end = content.lastIndexOf(TRAILER);
    const code = content.slice(0, end);
    const { madeBy, codeHash, inputs } = trailerSchema.parse(JSON.parse(content.slice(end + TRAILER.length)));
    return codeHash === sha256(code) ? { code, madeBy, inputs } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a cache file, whole or not at all: who reads it meanwhile has the old one. Several processes may share the folder. */
export async function writeCacheFile(file: string, { code, madeBy, inputs }: CachedBundle): Promise<void> {
  const trailer: z.input<typeof trailerSchema> = { madeBy, codeHash: sha256(code), inputs: [...inputs] };
  await makeFolder(dirname(file));
  await replaceFile(file, `${code}${TRAILER}${JSON.stringify(trailer)}\n`, { writer: randomUUID() });
  await removeUnfinished(file);
}

/** No write takes this long: what is older was left behind by a process that died. */
const UNFINISHED_MS = 60 * 60_000;

async function removeUnfinished(file: string): Promise<void> {
  const folder = dirname(file);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}.`));
  // Another process may move its own into place meanwhile.
  const ages = await Promise.all(names.map((name) => ageOf(join(folder, name)).catch(() => 0)));
  await removeFiles(
    folder,
    names.filter((_, at) => (ages[at] ?? 0) > UNFINISHED_MS),
  );
}

const ageOf = async (file: string): Promise<number> => Date.now() - (await stat(file)).mtimeMs;
