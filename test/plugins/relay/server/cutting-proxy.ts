import { once } from 'node:events';
import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** The moment at which a request is cut: before it arrives, when its response begins, after some chunks of it, or at its end. */
export type Cut = 'before' | 'headers' | 'first piece' | 'end';

/** A proxy between a client and a server. */
export interface CuttingProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** Cuts the next request with such a body. The server continues its work on it. */
  cut(where: Cut, body: (text: string) => boolean): void;
  /** Number of cut requests. */
  readonly cuts: number;
}

/** Forwards a response up to the cut. The rest is read and dropped, so that the server continues. */
async function pass(answer: IncomingMessage, response: ServerResponse, where: Cut | undefined): Promise<void> {
  if (where === 'end') for await (const _ of answer);
  if (where === 'headers') answer.resume();
  if (where === 'end' || where === 'headers') return void response.destroy();
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  for await (const piece of answer) {
    response.write(piece);
    if (where !== 'first piece') continue;
    await new Promise((resolve) => response.write('', resolve));
    response.destroy();
  }
  response.end();
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  let planned: { readonly where: Cut; readonly body: (text: string) => boolean } | undefined;
  let cuts = 0;
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const isMeant = request.method === 'POST' && planned?.body(sent.toString()) === true;
    const where = isMeant ? planned?.where : undefined;
    if (isMeant) {
      planned = undefined;
      cuts += 1;
    }
    if (where === 'before') return void response.destroy();
    const { hostname, port } = new URL(target);
    const headers = { ...request.headers, host: `${hostname}:${port}` };
    const upstream = open({ hostname, port, method: request.method, path: request.url, headers }, (answer) => {
      pass(answer, response, where).catch(() => response.destroy());
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => {
      if (where === undefined && !response.writableFinished) upstream.destroy();
    });
    upstream.end(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    baseUrl: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    cut(where, body) {
      planned = { where, body };
    },
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
