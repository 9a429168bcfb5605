import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only content of this server is run or shown; other pictures of embeds become links. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Serves the files of the page below `/client/`. Those in `assets` have content-based names, and are compressed once. */
export async function servePage(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
): Promise<void> {
  const path = pathname.slice('/client/'.length) || 'index.html';
  const file = normalize(join(folder, path));
  const type = TYPES[extname(file)];
  const body = type && file.startsWith(join(folder, '/')) ? await readFile(file).catch(() => undefined) : undefined;
  if (type === undefined || body === undefined) {
    response.writeHead(404, { ...HEADERS, 'content-type': 'text/plain' }).end('There is no such page.');
    return;
  }
  if (!path.startsWith('assets/')) {
    response.writeHead(200, { ...HEADERS, 'content-type': type, 'cache-control': 'no-cache' }).end(body);
    return;
  }
  const headers = { ...HEADERS, 'content-type': type, 'cache-control': IMMUTABLE, vary: 'accept-encoding' };
  if (!/\bbr\b/.test(String(request.headers['accept-encoding']))) response.writeHead(200, headers).end(body);
  else response.writeHead(200, { ...headers, 'content-encoding': 'br' }).end(await compressed(file, body));
}

const IMMUTABLE = 'public, max-age=31536000, immutable';
const brotli = promisify(brotliCompress);
const compressedFiles = new Map<string, Promise<Buffer>>();

function compressed(file: string, body: Buffer): Promise<Buffer> {
  const known = compressedFiles.get(file) ?? brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  compressedFiles.set(file, known);
  return known;
}
