import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { fetchUrlTool } from '@cinnabar/plugin-tasks/dist/builtin/tools.js';
import { htmlToText } from '@cinnabar/plugin-tasks/dist/builtin/web/html-text.js';
import { createWebReader } from '@cinnabar/plugin-tasks/dist/builtin/web/reader.js';
import { isPublicAddress } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';

/** An address of this machine that the tests treat as public. */
const OUTSIDE = '127.0.0.2';
const INSIDE = '127.0.0.1';
const MOST_BYTES = 64 * 1024;

type Answer = (response: ServerResponse, port: number) => unknown;
const html = { 'content-type': 'text/html' };
const bomb = Buffer.alloc(20 * 1024 * 1024, 'a');

const PAGES: Readonly<Record<string, Answer>> = {
  '/page': (response) =>
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('<title>T</title><script>evil()</script><h1>Hello</h1><p>from <a href="/x">outside</a></p>'),
  '/packed': (response) =>
    response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(gzipSync('<p>unpacked</p>')),
  '/latin': (response) =>
    response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from('caf\xe9', 'latin1')),
  '/hop': (response) => response.writeHead(302, { location: '/page' }).end(),
  '/to-loopback': (response, port) => response.writeHead(302, { location: `http://${INSIDE}:${port}/page` }).end(),
  '/to-metadata': (response) => response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  '/to-name': (response, port) => response.writeHead(301, { location: `http://inside.example:${port}/page` }).end(),
  '/to-file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/to-nothing': (response) => response.writeHead(302, { location: 'http://[' }).end(),
  '/round': (response) => response.writeHead(302, { location: '/round' }).end(),
  '/huge': (response) => response.writeHead(200, { ...html, 'content-length': String(10 ** 9) }).write('x'),
  '/huge-chunked': (response) => response.writeHead(200, html).end(Buffer.alloc(MOST_BYTES * 4, 'x')),
  '/gzip-bomb': (response) => response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(gzipSync(bomb)),
  '/brotli-bomb': (response) =>
    response.writeHead(200, { ...html, 'content-encoding': 'br' }).end(brotliCompressSync(bomb)),
  '/packed-twice': (response) =>
    response.writeHead(200, { ...html, 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync('x'))),
  '/not-packed': (response) => response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end('not gzip at all'),
  '/image': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
  '/untyped': (response) => response.writeHead(200).end('x'),
  '/gone': (response) => response.writeHead(404, html).end('x'),
  '/cut': (response) =>
    response.writeHead(200, { ...html, 'content-length': '100' }).write('x', () => response.destroy()),
  '/headers': (response) => response.writeHead(200, { ...html, 'x-long': 'x'.repeat(32 * 1024) }).end('x'),
  '/silent': () => undefined,
  '/slow': (response) => response.writeHead(200, html).write('x'),
};

/** A web server on a public and a private address, a resolver, and the reader under test. */
export async function openWeb({ mostBytes = MOST_BYTES } = {}) {
  const asked: string[] = [];
  let given = '';
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    asked.push(`${request.socket.localAddress}${url}`);
    if (url === '/given') response.writeHead(200, html).end(given);
    else PAGES[url]?.(response, port);
    for (const tell of waiting.splice(0)) tell();
  });
  const waiting: (() => void)[] = [];
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  const clock = createManualClock();
  let turn = 0;
  const names: Readonly<Record<string, () => readonly string[]>> = {
    'site.example': () => [OUTSIDE],
    'inside.example': () => [INSIDE],
    'mixed.example': () => [OUTSIDE, '10.0.0.1'],
    'six.example': () => ['::1'],
    'metadata.example': () => ['169.254.169.254'],
    'nothing.example': () => [],
    // Resolves to a public address at the first look-up, and to a private one at the next.
    'rebind.example': () => (turn++ % 2 === 0 ? [OUTSIDE] : [INSIDE]),
  };
  const reader = createWebReader({
    clock,
    htmlToText: async (html) => htmlToText(html),
    ports: [port],
    mostBytes,
    timeoutMs: 20_000,
    isPublic: (address) => address === OUTSIDE || isPublicAddress(address),
    async resolve(hostname) {
      const found = names[hostname]?.();
      if (found === undefined) throw new Error(`ENOTFOUND ${hostname}`);
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
  const site = (path: string) => `http://site.example:${port}${path}`;
  const read = (url: string) => reader.read(url, new AbortController().signal, 'alice');
  return {
    reader,
    clock,
    port,
    asked,
    site,
    /** Resolves with the next request. */
    nextRequest: () => new Promise<void>((resolve) => waiting.push(resolve)),
    read,
    /** The text of a page with this HTML. */
    async textOf(page: string) {
      given = page;
      return (await read(site('/given'))).text;
    },
    /** The text of `fetch_url` for an excerpt. */
    told: (excerpt: { readonly url: string; readonly text: string; readonly from: number; readonly total: number }) =>
      String(fetchUrlTool(reader).present?.success?.({ url: excerpt.url, from: excerpt.from }, excerpt)),
    async [Symbol.asyncDispose]() {
      await reader.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
