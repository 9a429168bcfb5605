import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/** A file of the pages, in memory: nothing outside of the folder can be asked for. */
export interface StaticFile {
  readonly contentType: string;
  readonly content: Buffer;
  /** Smaller, for browsers that take it. */
  readonly brotli: Buffer | undefined;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Reads a folder of built pages. Files by their path in addresses: `/assets/index-3fa1.js`. Empty where nothing was built. */
export async function readStaticFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const contentType = TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    files.set(name, {
      contentType,
      content,
      brotli: /^(text|application)\/|svg/.test(contentType) ? compressed(content) : undefined,
      etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
      isImmutable: name.startsWith('/assets/'),
    });
  }
  return files;
}

const compressed = (content: Buffer): Buffer =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
