import { gzipSync } from 'node:zlib';
import { defined } from '@cinnabar/sdk';
import { Header, Pax } from 'tar';

/** An entry of a tarball, written unchanged, so that it may be invalid. */
export interface TarEntry {
  readonly path: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice';
  readonly content?: string | Uint8Array;
  readonly linkpath?: string;
  readonly mode?: number;
}

const BLOCK = 512;

/** Packs entries in the format of `npm pack`: a gzipped tar. */
export function packEntries(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ path, type = 'File', content = '', linkpath, mode = 0o644 }) => {
    const bytes = Buffer.from(content);
    const header = new Header({ path, type, size: bytes.length, mode, mtime: new Date(0), ...defined({ linkpath }) });
    const block = Buffer.alloc(BLOCK);
    // Values that do not fit a header are in an additional header before it.
    const isTooMuch = header.encode(block);
    const extended = isTooMuch ? [new Pax({ path, ...defined({ linkpath }) }).encode()] : [];
    return [...extended, block, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
}

/** Packs files, by path; objects become JSON: `packFiles({ 'package.json': { name: 'dice', version: '1.0.0' } })`. */
export function packFiles(files: Readonly<Record<string, string | Uint8Array | object>>): Buffer {
  return packEntries(
    Object.entries(files).map(([path, content]) => ({
      path: `package/${path}`,
      content: typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
    })),
  );
}
