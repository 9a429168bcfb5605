import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { ask, call, openMcpHarness, textOf } from './harness.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };
const NOTHING = { type: 'object' };
const MB = 1024 * 1024;

/** Repeats one chunk while the response is read. */
function* endlessly(first: string, chunk: string, count: (bytes: number) => void): Generator<string> {
  yield first;
  for (;;) {
    count(chunk.length);
    yield chunk;
  }
}

/** The endless response of each tool, after its beginning. */
const ENDLESS: Readonly<Record<string, readonly [head: Record<string, string>, first: string, chunk: string]>> = {
  body: [JSON_TYPE, '{"jsonrpc":"2.0","id":1,"result":{"x":"', 'x'.repeat(64 * 1024)],
  event: [STREAM_TYPE, 'event: message\ndata: "', 'x'.repeat(64 * 1024)],
  events: [
    STREAM_TYPE,
    '',
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n',
  ],
};

/** An MCP server over HTTP whose responses never end. */
async function openEndless() {
  let poured = 0;
  const server: Server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body);
    const answer = (result: unknown) =>
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'initialize') {
      const serverInfo = { name: 'endless', version: '1.0.0' };
      return answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
    }
    if (method === 'tools/list') {
      return answer({ tools: Object.keys(ENDLESS).map((name) => ({ name, inputSchema: NOTHING })) });
    }
    const [head, first, chunk] = ENDLESS[params.name] ?? [JSON_TYPE, '', ''];
    const count = (bytes: number) => {
      poured += bytes;
    };
    // Ends when the client disconnects.
    return pipeline(Readable.from(endlessly(first, chunk, count)), response.writeHead(200, head)).catch(
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    poured: () => poured,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('an MCP server over HTTP whose answer has no end', function () {
  this.timeout(60_000);
  const reasons: Readonly<Record<string, RegExp>> = {
    body: /it sent a message of more than 8 MB/,
    event: /it sent a message of more than 8 MB/,
    events: /it sent more than 64 MB within a minute/,
  };
  for (const [name, why] of Object.entries(reasons)) {
    it(`is left as soon as that is known: ${name}`, async () => {
      await using endless = await openEndless();
      await using host = await openMcpHarness({ far: { url: endless.url, tier: 'everyone' } });
      expect(textOf(await call(host, `far_${name}`))).to.match(/stopped while this was running/);
      expect(await ask(host, '!mcp list')).to.match(why);
      expect(endless.poured()).to.be.below(80 * MB);
    });
  }
});
