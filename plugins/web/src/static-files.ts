import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

/** A file of the pages. Nothing outside of the folder, and nothing that was not there at the start, can be asked for. */
export interface StaticFile {
  readonly contentType: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  /** From the disk the first time, and from memory then. */
  read(): Promise<Content>;
}

interface Content {
  readonly bytes: Buffer;
  /** Smaller, for browsers that take it. */
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

/** Of names that change with their content. */
const HASHED = /^\/(?:assets\/|docs\/book-\w+\.css$)/;

/** Finds the files of a folder of built pages, by their path in addresses: `/assets/index-3fa1.js`. Empty where nothing was built. */
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
