import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of the loopback interface, for an address that has to outlive the process that serves it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
