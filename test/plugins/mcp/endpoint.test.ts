import { request } from 'node:http';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { endpointOf, mintToken } from './bearer.js';
import { ask } from './harness.js';

let begun: () => void = () => undefined;
let aborted: () => void = () => undefined;

const desk = definePlugin({
  manifest: { id: 'desk', version: '1.0.0', description: 'Tools for tests' },
  setup({ tool }) {
    const plain = { description: 'Does something', input: z.object({}), risk: 'write' } as const;
    tool({ ...plain, name: 'stamp', input: z.object({ what: z.string() }), run: ({ what }) => `${what} stamped` });
    tool({ ...plain, name: 'peek', risk: 'read', run: () => 'seen' });
    tool({ ...plain, name: 'burn', risk: 'destructive', run: () => 'burnt' });
    tool({ ...plain, name: 'audit', access: { tier: 'admin' }, run: () => 'audited' });
    tool({
      ...plain,
      name: 'wait',
      run: (_, { signal }) =>
        new Promise((resolve) => {
          begun();
          signal.addEventListener('abort', () => {
            aborted();
            resolve('aborted');
          });
        }),
    });
  },
});

describe('the tools of the host over MCP', function () {
  this.timeout(60_000);
  let host: TestHost;
  let url: string;
  const clients: Client[] = [];
  beforeEach(async () => {
    host = await createTestHost({
      plugins: ['mcp', 'admin', 'confirm', desk],
      settings: { mcp: { listen: '127.0.0.1:0', callsPerMinute: 30, origins: ['https://app.example.org'] } },
    });
    await host.resolve(ToolPolicies).set(host.guild.id, 'audit', 'allow');
    await host.resolve(ToolPolicies).set(host.guild.id, 'wait', 'allow');
    url = await endpointOf(host);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await host[Symbol.asyncDispose]();
  });

  async function connect(bearer: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { authorization: `Bearer ${bearer}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    clients.push(client);
    return client;
  }
  /** A token that acts as alice, created by the owner of the bot. */
  const mintForAlice = (more = '') => mintToken(host, host.you, `<@${host.alice.id}> ${more}`.trim());
  const namesFor = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  describe('admission of clients', () => {
    const initialize = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    async function post(headers: Record<string, string> = {}, body = initialize, path = url) {
      const answer = await fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body,
      });
      await answer.arrayBuffer();
      return answer;
    }
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

    it('no request without a token, or with a wrong one', async () => {
      const without = await post();
      expect(without.status).to.equal(401);
      expect(without.headers.get('www-authenticate')).to.equal('Bearer');
      const token = await mintToken(host);
      const wrong = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`;
      expect((await post(bearer(wrong))).status).to.equal(401);
      expect((await post(bearer(token))).status).to.equal(200);
    });

    it('no request with an expired token', async () => {
      const token = await mintToken(host, host.you, 'expires:1h');
      expect((await post(bearer(token))).status).to.equal(200);
      host.clock.advance(3_600_000);
      expect((await post(bearer(token))).status).to.equal(401);
    });

    it('no request with a revoked token, not even in an open session', async () => {
      const token = await mintToken(host);
      const client = await connect(token);
      const id = /`([0-9a-f]{8})` acts as/.exec(await ask(host, '!mcp token list'))?.[1];
      expect(await ask(host, `!mcp token revoke ${id}`)).to.equal('The token is revoked.');
      expect(await ask(host, `!mcp token revoke ${id}`)).to.equal('There is no token of that id here.');
      expect((await post(bearer(token))).status).to.equal(401);
      let refused: unknown;
      await client.listTools().catch((error: unknown) => {
        refused = error;
      });
      expect(String(refused)).to.match(/valid bearer token/);
    });

    it('no web page of another origin, and no client under another host name', async () => {
      const token = bearer(await mintToken(host));
      expect((await post({ ...token, origin: 'https://evil.example' })).status).to.equal(403);
      expect((await post({ ...token, origin: 'https://app.example.org' })).status).to.equal(200);
      expect((await post({ ...token, origin: 'http://localhost:3000' })).status).to.equal(200);
      const { port } = new URL(url);
      const status = await new Promise((resolve, reject) => {
        const headers = { ...token, host: `rebound.example:${port}` };
        request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end(initialize);
      });
      expect(status).to.equal(403);
    });

    it('no request of more than a megabyte, and no other path', async () => {
      const token = bearer(await mintToken(host));
      expect((await post(token, ' '.repeat(1024 * 1024 + 1))).status).to.equal(413);
      expect((await post(token, initialize, url.replace('/mcp', '/admin'))).status).to.equal(404);
    });

    it('no more requests of a token in a minute than the limit', async () => {
      const token = bearer(await mintToken(host));
      const statuses = await Promise.all(Array.from({ length: 31 }, async () => (await post(token)).status));
      expect(statuses.filter((status) => status === 429)).to.have.lengthOf(1);
      host.clock.advance(60_000);
      expect((await post(token)).status).to.equal(200);
    });

    it('no token in the session of another token', async () => {
      const mine = await mintToken(host);
      const opened = await post(bearer(mine));
      const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
      const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
      expect((await post({ ...bearer(mine), ...session }, list)).status).to.equal(200);
      expect((await post({ ...bearer(await mintForAlice()), ...session }, list)).status).to.equal(404);
    });
  });

  describe('making tokens', () => {
    it('is for admins; for another member only the owner of the bot can', async () => {
      host.alice.say(host.general, '!mcp token create');
      await host.settled();
      expect(host.general.messages.at(-1)?.content).to.match(/^You may not do that/);
      host.guild.giveRole(host.alice, host.guild.createRole({ name: 'admins', permissions: ['ManageGuild'] }));
      await host.settled();
      host.alice.say(host.general, `!mcp token create <@${host.you.id}>`);
      await host.settled();
      expect(host.general.messages.at(-1)?.content).to.match(/^Only the owner of the bot/);
    });

    it('shows the token only to the caller, and makes none where it cannot', async () => {
      expect(await ask(host, '!mcp token create')).to.equal('I have sent it to you in a direct message.');
      const interaction = host.you.slash(host.general, 'mcp token create');
      await host.settled();
      expect(interaction.messages[0]?.visibleTo).to.equal(host.you);
      expect(interaction.messages[0]?.content).to.match(/cinnabar_mcp_/);
      host.you.dmsClosed = true;
      expect(await ask(host, '!mcp token create')).to.match(/^I cannot write you a direct message/);
      expect(await ask(host, '!mcp token list')).to.match(/\*\*Tokens\*\* \(2\)/);
      expect(await ask(host, '!mcp token list')).to.not.contain('cinnabar_mcp_');
    });
  });

  describe('the rights of a token', () => {
    it('are those of its member', async () => {
      const mine = await connect(await mintToken(host));
      expect(await namesFor(mine)).to.include.members(['stamp', 'audit', 'wait']);
      expect(await mine.callTool({ name: 'audit' })).to.deep.include({ content: [{ type: 'text', text: 'audited' }] });
      const alices = await connect(await mintForAlice());
      expect(await namesFor(alices))
        .to.include('stamp')
        .and.not.include('audit');
      const refused = await alices.callTool({ name: 'audit' });
      expect(refused.isError).to.equal(true);
      expect(JSON.stringify(refused.content)).to.match(/need to be at least an? .*admin/);
    });

    it('shows each tool with its schema, and hints that follow from its risk', async () => {
      const client = await connect(await mintToken(host, host.you, 'tools:stamp,peek,burn'));
      const { tools } = await client.listTools();
      expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).to.deep.equal({
        stamp: { readOnlyHint: false, destructiveHint: false },
        peek: { readOnlyHint: true, destructiveHint: false },
        burn: { readOnlyHint: false, destructiveHint: true },
      });
      expect(tools[0]?.inputSchema).to.deep.include({
        type: 'object',
        properties: { what: { type: 'string' } },
        required: ['what'],
      });
    });

    it('do not exceed its purpose', async () => {
      const client = await connect(await mintToken(host, host.you, 'tools:wait'));
      expect(await namesFor(client)).to.deep.equal(['wait']);
      const error = await client.callTool({ name: 'stamp' }).catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(/-32602.*Unknown tool: stamp/);
      expect(await ask(host, '!mcp token create tools:nonsense')).to.equal('There is no tool called `nonsense`.');
    });

    it('cover only tools that are enabled in its guild', async () => {
      const elsewhere = host.discord.createGuild({ name: 'Elsewhere', owner: host.you });
      elsewhere.invite(host.application);
      const lobby = elsewhere.createChannel({ name: 'lobby' });
      await host.settled();
      host.you.say(lobby, '!plugin disable desk');
      await host.settled();
      host.you.say(lobby, '!mcp token create');
      await host.settled();
      const sent = host.you.openDm(host.bot).messages.at(-1)?.content ?? '';
      const there = await connect(/cinnabar_mcp_[\w-]+/.exec(sent)?.[0] ?? '');
      expect(await namesFor(there)).to.not.include('stamp');
      expect((await there.callTool({ name: 'stamp', arguments: { what: 'x' } })).isError).to.equal(true);
      expect(await namesFor(await connect(await mintToken(host)))).to.include('stamp');
    });
  });

  describe('a call that is held', () => {
    const card = () => host.general.messages.findLast(({ reactions }) => reactions.length > 0);

    async function stampWith(client: Client) {
      const progress: string[] = [];
      const answer = client.callTool({ name: 'stamp', arguments: { what: 'it' } }, undefined, {
        onprogress: ({ message }) => progress.push(message ?? ''),
      });
      await host.discord.expectMessage({ author: host.bot, content: /stamp/ });
      await host.settled();
      return { answer, progress };
    }

    it('waits for its member, and is answered when it has run', async () => {
      const { answer } = await stampWith(await connect(await mintForAlice()));
      const held = card();
      if (held === undefined) throw new Error('there is no card');
      host.alice.react(held, '👍');
      expect((await answer).content).to.deep.equal([{ type: 'text', text: 'it stamped' }]);
    });

    it('is reported as not run without a decision in time; heartbeats keep the client waiting', async () => {
      const { answer, progress } = await stampWith(await connect(await mintForAlice()));
      for (let seconds = 0; seconds < 50; seconds += 10) host.clock.advance(10_000);
      const [block] = [(await answer).content].flat();
      expect(JSON.stringify(block)).to.match(/Not run yet: /);
      expect(progress.length).to.be.at.least(1);
      expect((await answer).isError).to.equal(undefined);
    });
  });

  it('aborts a call that the client cancels', async () => {
    const client = await connect(await mintToken(host));
    const abort = new AbortController();
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    const answer = client.callTool({ name: 'wait' }, undefined, { signal: abort.signal }).catch(() => 'cancelled');
    await started;
    abort.abort();
    expect(await answer).to.equal('cancelled');
    await ended;
  });

  it('is over with the plugin', async () => {
    await connect(await mintToken(host));
    await host.plugins.unload('mcp');
    const failure = await fetch(url).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TypeError);
  });
});
