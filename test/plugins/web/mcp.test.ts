import { createTestHost } from '@cinnabar/core/testing';
import { WebServer } from '@cinnabar/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { endpointOf, mintToken } from '../mcp/bearer.js';
import { openBrowser } from './browser.js';

const start = (settings: Readonly<Record<string, unknown>> = {}) =>
  createTestHost({
    plugins: ['admin', 'confirm', 'mcp', 'web'],
    env: { CINNABAR_WEB: '0' },
    settings: { mcp: settings },
    printErrors: false,
  });

async function toolsAt(url: string, bearer: string): Promise<readonly string[]> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

describe('web: the tools of the host over MCP', () => {
  it('are on the same server, for clients with a token', async () => {
    await using host = await start();
    const url = await endpointOf(host);
    expect(url).to.equal(`${host.resolve(WebServer).url}/mcp`);
    await toolsAt(url, await mintToken(host));
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    expect((await browser.act('/mcp', {})).status, 'a session of the dashboard is no token').to.equal(401);
    expect((await browser.act('/mcp', {}, { origin: 'https://evil.example' })).status).to.equal(403);
  });

  it('go on being where they were told to be, and are then in both places', async () => {
    await using host = await start({ listen: '127.0.0.1:0' });
    const url = await endpointOf(host);
    const shared = `${host.resolve(WebServer).url}/mcp`;
    expect(url).not.to.equal(shared);
    const token = await mintToken(host);
    expect(await toolsAt(url, token)).to.deep.equal(await toolsAt(shared, token));
  });

  it('are gone with their plugin', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    expect((await browser.act('/mcp', {})).status).to.equal(401);
    await host.plugins.unload('mcp');
    expect((await browser.act('/mcp', {})).status).to.equal(405);
  });
});
