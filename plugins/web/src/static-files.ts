import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

/** A file of the pages. Only files that were in the folder at the start can be requested. */
export interface StaticFile {
  readonly contentType: string;
  /** Whether its name changes with its content. */
  readonly isImmutable: boolean;
  /** Reads the file from the disk the first time, then from memory. */
  read(): Promise<Content>;
}

interface Content {
  readonly bytes: Buffer;
  /** The compressed content, for browsers that accept it. */
  readonly brotli: Buffer | undefined;
  readonly etag: string;
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

/** Matches paths whose name changes with the content. */
const HASHED = /^\/(?:assets\/|docs\/book-\w+\.css$)/;

/** Finds the files of a folder of built pages by their URL path: `/assets/index-3fa1.js`. Empty if nothing was built. */
export async function findStaticFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const contentType = TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    let content: Promise<Content> | undefined;
    files.set(name, {
      contentType,
      isImmutable: HASHED.test(name),
      read() {
        content ??= readContent(path, /^(text|application)\/|svg/.test(contentType)).catch((error: unknown) => {
          content = undefined;
          throw error;
        });
        return content;
      },
    });
  }
  return files;
}

const compress = promisify(brotliCompress);

async function readContent(path: string, isText: boolean): Promise<Content> {
  const bytes = await readFile(path);
  return {
    bytes,
    brotli: isText ? await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }) : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
  };
}
