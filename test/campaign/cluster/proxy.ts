import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A proxy between a process and a server whose connections can be cut. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number;
  /** `refuse`: connections break, and new ones are refused. `swallow`: data is dropped without an error. */
  cut(how: 'refuse' | 'swallow'): void;
  mend(): void;
}

/** @param listen address for the process; default: a free port */
export async function openProxy(
  listen: { readonly host: string; readonly port?: number },
  to: NetConnectOpts,
): Promise<CutProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut: 'refuse' | 'swallow' | undefined;
  const end = ([near, far]: readonly [Socket, Socket]) => {
    near.destroy();
    far.destroy();
  };
  const server = createServer((near) => {
    near.on('error', () => undefined);
    if (isCut === 'refuse') return void near.destroy();
    const far = connect(to);
    far.on('error', () => undefined);
    const pair = [near, far] as const;
    pairs.add(pair);
    const over = () => {
      pairs.delete(pair);
      end(pair);
    };
    near.on('close', over);
    far.on('close', over);
    near.on('data', (data) => isCut === undefined && far.write(data));
    far.on('data', (data) => isCut === undefined && near.write(data));
  });
  server.listen(listen.port ?? 0, listen.host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut(how) {
      isCut = how;
      if (how === 'refuse') for (const pair of pairs) end(pair);
    },
    mend() {
      // Dropped data makes the connections unusable.
      if (isCut === 'swallow') for (const pair of pairs) end(pair);
      isCut = undefined;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const pair of pairs) end(pair);
    },
  };
}
