import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from '@cinnabar/sdk';
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

/** Writes a cache file, whole or not at all: whoever reads it meanwhile has the old one. */
export async function writeCacheFile(file: string, { code, madeBy, inputs }: CachedBundle): Promise<void> {
  const trailer: z.input<typeof trailerSchema> = { madeBy, codeHash: sha256(code), inputs: [...inputs] };
  const unfinished = `${file}.${randomUUID()}.tmp`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(unfinished, `${code}${TRAILER}${JSON.stringify(trailer)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}
