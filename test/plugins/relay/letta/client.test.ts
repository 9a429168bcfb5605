import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { SENDING, sendPrompt, startLetta } from './harness.js';

const messages = z.array(z.looseObject({ id: z.string(), message_type: z.string() }));
type Messages = z.output<typeof messages>;

interface Oddities {
  readonly query?: (query: URLSearchParams) => unknown;
  readonly page?: (page: Messages) => Messages;
}

/** A proxy for a Letta server that changes queries and pages of messages. */
async function standBefore(target: string, { query = () => undefined, page = (same) => same }: Oddities) {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', target);
    const isPage = /^\/v1\/runs\/[^/]+\/messages$/.test(url.pathname);
    if (isPage) query(url.searchParams);
    const { method = 'GET', headers } = request;
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const body = method === 'GET' ? {} : { body: await text(request) };
    const asking = fetch(url, { method, headers: { authorization, 'content-type': type }, ...body });
    const answer = await asking.catch(() => undefined);
    if (answer === undefined) return void response.destroy();
    const said = await answer.text();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(isPage ? JSON.stringify(page(messages.parse(JSON.parse(said)))) : said);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    baseUrl: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('relay: the messages of a run', () => {
  const texts = Array.from({ length: 45 }, (_, n) => `message ${n}`);
  /** Reads the messages of a run whose answer was lost. @returns their texts, and the number of pages. A step has three messages. */
  const readBack = async (steps: number, oddities: Oddities = {}) => {
    await using world = await startLetta({
      script: async (turn) => {
        for (const words of texts.slice(0, steps)) {
          turn.reason('Hm.');
          turn.reason('Well.');
          await turn.say(words);
        }
      },
    });
    await using server = await standBefore(world.letta.baseUrl, oddities);
    const agents = world.boot({ address: { baseUrl: server.baseUrl, apiKey: 'any' } });
    const agent = world.letta.addAgent();
    world.letta.faults.drop({ ...SENDING, afterEffect: true });
    await sendPrompt(agents, agent.id, 'Hello');
    const before = world.letta.requests.length;
    const said = await sendPrompt(agents, agent.id, 'Hello');
    const pages = world.letta.requests.slice(before).filter(({ path }) => /^\/v1\/runs\/.*\/messages/.test(path));
    return { texts: said.status === 'done' ? said.texts : [], pages: pages.length };
  };

  it('are read page by page', async () => {
    expect(await readBack(45)).to.deep.equal({ texts, pages: 2 });
  });

  it('are read once from a server that does not know the cursor', async () => {
    const read = await readBack(45, { query: (query) => query.delete('after') });
    // The first message is the prompt.
    expect(read).to.deep.equal({ texts: texts.slice(0, 33), pages: 2 });
  });

  it('are read with all their parts, which have the same id', async () => {
    const page = (all: Messages) => all.map((one) => ({ ...one, id: all.length > 1 ? 'message-1' : one.id }));
    expect((await readBack(3, { page })).texts).to.deep.equal(texts.slice(0, 3));
  });
});
