import { createHash } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';

/** A name on this machine that one process at a time can have, and that the system frees however the process ends. */
export interface NameClaim {
  /** What another process says of itself, which has the name; `undefined`: it is ours, or there are no such names here. */
  readonly holder: string | undefined;
  /** Idempotent. */
  release(): void;
}

const ANSWER_MS = 2_000;

/**
 * Claims the name that belongs to a folder, by a socket that is no file: an abstract one on Linux, a named pipe on Windows. Elsewhere there
 * are none, and nothing is claimed.
 * @param self what is said to other processes that try
 * @param namespace of the process's container: one that shares the network of another has the same names, and other data in a folder of that path
 */
export async function claimName(folder: string, self: string, namespace = ''): Promise<NameClaim> {
  const path = pathFor(folder, namespace);
  if (path === undefined) return { holder: undefined, release: () => undefined };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(self);
  });
  // Whoever only waits for a clean end does not wait for this.
  server.unref();
  const taken = await listening(server, path);
  return { holder: taken ? await askHolder(path) : undefined, release: () => void server.close() };
}

function pathFor(folder: string, namespace: string): string | undefined {
  const name = `cinnabar-${createHash('sha256').update(`${namespace}\n${folder}`).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined;
}

/** @returns whether another process has the name */
function listening(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', (error) => resolve('code' in error && error.code === 'EADDRINUSE'));
    server.listen({ path, exclusive: true }, () => resolve(false));
  });
}

function askHolder(path: string): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect({ path });
    socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (text) => {
      said += text;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(said));
  });
}
