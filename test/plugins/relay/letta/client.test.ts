import { once } from 'node:events';
import { createServer } from 'node:http';
import { messagesOf } from '@cinnabar/plugin-relay/dist/letta/client.js';
import Letta from '@letta-ai/letta-client';
import { expect } from 'chai';

const message = (id: string) => ({ id, message_type: 'assistant_message', content: id, date: '2026-01-01T00:00:00Z' });

/** A server that answers each question for a page with what `pageAfter` says. */
async function pagingServer(pageAfter: (after: string | null) => readonly string[]) {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(pageAfter(searchParams.get('after')).map(message)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  const baseURL = `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`;
  return {
    client: new Letta({ baseURL, apiKey: 'any', maxRetries: 0, logLevel: 'off' }),
    get asked() {
      return asked;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('relay: the messages of a run', () => {
  const ids = Array.from({ length: 250 }, (_, n) => `message-${n}`);
  const read = async ({ client }: { readonly client: Letta }) =>
    (await messagesOf(client, 'run-1', AbortSignal.timeout(5_000))).map(({ id }) => id);

  it('are read page by page', async () => {
    await using server = await pagingServer((after) => {
      const from = after === null ? 0 : ids.indexOf(after) + 1;
      return ids.slice(from, from + 100);
    });
    expect(await read(server)).to.deep.equal(ids);
    expect(server.asked).to.equal(3);
  });

  it('are read once from a server that does not know the cursor', async () => {
    await using server = await pagingServer(() => ids.slice(0, 100));
    expect(await read(server)).to.deep.equal(ids.slice(0, 100));
    expect(server.asked).to.equal(2);
  });

  it('are read with all their parts, which have the same id', async () => {
    await using server = await pagingServer((after) => (after === null ? ['message-1', 'message-1', 'message-2'] : []));
    expect(await read(server)).to.deep.equal(['message-1', 'message-1', 'message-2']);
  });
});
