import { lookup } from 'node:dns/promises';
import type { Clock, Registrar } from '@cinnabar/sdk';
import { calculateTool } from './calculate/calculate.js';
import { fetchUrlTool } from './web/fetch-url.js';
import { isPublicAddress } from './web/public-address.js';
import type { WebReader } from './web/reader.js';

const MOST_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
/** Where web servers are, beside the ports of http and https. */
const PORTS = [8080, 8443];

/** Tools of its own that are worth having for every mind. The reader's library is loaded with the first page. */
export function registerBuiltinTools({ tool, defer }: Pick<Registrar, 'tool' | 'defer'>, clock: Clock): void {
  let opened: Promise<WebReader> | undefined;
  const open = async () => {
    const { createWebReader } = await import('./web/reader.js');
    return createWebReader({
      clock,
      isPublic: isPublicAddress,
      resolve: (hostname) => lookup(hostname, { all: true }),
      ports: PORTS,
      mostBytes: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
  };
  tool(
    fetchUrlTool({
      async read(url, signal) {
        opened ??= open();
        return (await opened).read(url, signal);
      },
      close: async () => (await opened)?.close(),
    }),
  );
  tool(calculateTool);
  defer(async () => (await opened)?.close());
}
