import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A second address of a server. It refuses connections until it is opened, and again after it is closed. */
interface ClosableAddress extends AsyncDisposable {
  readonly baseUrl: string;
  open(): Promise<void>;
  /** Cuts the current connections. */
  close(): Promise<void>;
}

export async function closableAddress(target: string): Promise<ClosableAddress> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const relay = (socket: Socket) => {
    const upstream = connect(Number(targetPort), hostname);
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => sockets.delete(one));
    }
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  };
  const listen = async (port: number) => {
    server = createServer(relay).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const at = server.address();
    return typeof at === 'object' && at !== null ? at.port : port;
  };
  const close = async () => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing === undefined) return;
    closing.close();
    await once(closing, 'close');
  };
  const port = await listen(0);
  await close();
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    open: async () => void (await listen(port)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
