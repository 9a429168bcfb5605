import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** One file as it was when it was read; a file that was not there has size -1. */
export interface Fingerprint {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** SHA-256 of the content, hex; empty for a file that was not there. */
  readonly hash: string;
}

const ABSENT = { size: -1, mtimeMs: 0, hash: '' };

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Reads a file, and what tells later whether it has changed. */
export async function readWithFingerprint(path: string): Promise<Fingerprint & { readonly content: Uint8Array }> {
  // The time is taken before the content: a file that changes in between looks older than it is, and is read again.
  const { mtimeMs } = await stat(path);
  const content = await readFile(path);
  return { path, size: content.byteLength, mtimeMs, hash: sha256(content), content };
}

/** The fingerprint of a file that need not be there. */
export async function fingerprint(path: string): Promise<Fingerprint> {
  try {
    const { content: _, ...found } = await readWithFingerprint(path);
    return found;
  } catch {
    return { path, ...ABSENT };
  }
}

/**
 * Whether a file still has the content that it had.
 * @param verify reads it even when its time and size are the same
 */
export async function isUnchanged(known: Fingerprint, verify: boolean): Promise<boolean> {
  if (!verify) {
    const { size, mtimeMs } = await stat(known.path).catch(() => ABSENT);
    if (size === known.size && (size === ABSENT.size || mtimeMs === known.mtimeMs)) return true;
  }
  return (await fingerprint(known.path)).hash === known.hash;
}
