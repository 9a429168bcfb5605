import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, Identities, McpEndpoint, z } from '@cinnabar/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';

const desk = definePlugin({
  manifest: { id: 'desk', version: '1.0.0', description: 'Tools for tests' },
  setup({ tool, client }) {
    const plain = { description: 'Does something', risk: 'write' } as const;
    tool({
      ...plain,
      name: 'shout',
      input: z.object({ channelId: z.string() }),
      access: { member: ['SendMessages'] },
      async place({ channelId }) {
        const channel = await client.channels.fetch(channelId);
        return { guildId: channel === null || channel.isDMBased() ? null : channel.guildId, channelId };
      },
      run: ({ channelId }, { actor }) => `${actor.identity} in ${channelId} for ${actor.userId}`,
    });
    tool({ ...plain, name: 'stamp', input: z.object({}), run: () => 'stamped' });
    tool({ ...plain, name: 'look', risk: 'read', input: z.object({}), run: () => 'all quiet' });
  },
});

describe('an agent over MCP', function () {
  this.timeout(60_000);
  let host: TestHost;
  const clients: Client[] = [];
  beforeEach(async () => {
    host = await createTestHost({ plugins: ['mcp', 'confirm', desk], settings: { mcp: { listen: '127.0.0.1:0' } } });
    await letIn('all');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await host[Symbol.asyncDispose]();
  });

  const letIn = (
    channels: 'all' | readonly string[],
    tools: Record<string, 'allow' | 'confirm'> = { shout: 'allow' },
  ) =>
    host.resolve(Identities).save({
      id: 'relay:v',
      plugin: 'mcp',
      name: 'V',
      grants: [{ guildId: host.guild.id, userId: host.you.id, channelId: host.general.id, channels, tools }],
    });

  async function connect(bearer: string): Promise<Client> {
    const client = new Client({ name: 'agent', version: '1.0.0' });
    const url = new URL(host.resolve(McpEndpoint).url ?? '');
    const transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${bearer}` } },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    clients.push(client);
    return client;
  }
  /** The error of a refused call; `undefined` for an accepted one. */
  const refusalOf = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (error: unknown) => String(error),
    );
  const shout = async (client: Client, channelId: string) => {
    const { content } = await client.callTool({ name: 'shout', arguments: { channelId } });
    return z.array(z.object({ text: z.string() })).parse(content)[0]?.text;
  };

  it('sees and uses what it was granted, as the user of its grant, and gets changes at once', async () => {
    const secret = host.guild.createChannel({ name: 'secret' });
    await host.settled();
    const { bearer } = await host.resolve(McpEndpoint).issue('relay:v');
    const client = await connect(bearer);
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['shout']);
    expect(await shout(client, secret.id)).to.equal(`relay:v in ${secret.id} for ${host.you.id}`);
    await letIn([host.general.id]);
    expect(await shout(client, secret.id)).to.match(/out of reach/);
    expect(await shout(client, host.general.id)).to.contain('relay:v');
    await letIn('all', { stamp: 'allow' });
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['stamp']);
    await letIn('all', {});
    expect((await client.listTools()).tools).to.deep.equal([]);
  });

  it('a removed agent has no bearer, also when another one gets its name', async () => {
    const { bearer } = await host.resolve(McpEndpoint).issue('relay:v');
    const client = await connect(bearer);
    await host.resolve(Identities).remove('relay:v');
    expect(await refusalOf(client.listTools())).to.match(/401|token/i);
    await letIn('all');
    expect(await refusalOf(connect(bearer))).to.match(/401|token/i);
    expect(await host.resolve(McpEndpoint).has('relay:v')).to.equal(false);
  });

  it('has no token a minute after it was removed, with or without being added again', async () => {
    const { bearer } = await host.resolve(McpEndpoint).issue('relay:v');
    await host.resolve(Identities).remove('relay:v');
    await host.advance(60_000);
    await letIn('all');
    expect(await refusalOf(connect(bearer))).to.match(/401|token/i);
  });

  it('gets one token for two simultaneous requests, and none when it is removed meanwhile', async () => {
    const endpoint = host.resolve(McpEndpoint);
    const issued = await Promise.all([endpoint.issue('relay:v'), endpoint.issue('relay:v')]);
    const refusals = await Promise.all(issued.map(({ bearer }) => refusalOf(connect(bearer))));
    expect(refusals.filter((one) => one === undefined)).to.have.length(1);
    await Promise.all([endpoint.issue('relay:v'), endpoint.revoke('relay:v')]);
    expect(await endpoint.has('relay:v')).to.equal(false);
  });

  it('gets no tool that changes something where its requests are shown, unless it has a grant there', async () => {
    const market = host.guild.createChannel({ name: 'market' });
    await host.settled();
    await letIn([market.id], { shout: 'allow', stamp: 'allow', look: 'allow' });
    const client = await connect((await host.resolve(McpEndpoint).issue('relay:v')).bearer);
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['shout', 'look']);
    expect(await client.callTool({ name: 'stamp', arguments: {} })).to.deep.include({
      isError: true,
      content: [
        {
          type: 'text',
          text: 'The tool stamp may not be used: this agent has not been let into the channel in which it would act',
        },
      ],
    });
    expect(await shout(client, market.id)).to.contain('relay:v');
    await letIn([market.id, host.general.id], { stamp: 'allow' });
    expect(await client.callTool({ name: 'stamp', arguments: {} })).not.to.include({ isError: true });
  });

  it('waits for a 👍 where its grant says so', async () => {
    await letIn('all', { stamp: 'confirm' });
    const client = await connect((await host.resolve(McpEndpoint).issue('relay:v')).bearer);
    const called = client.callTool({ name: 'stamp', arguments: {} });
    const card = await host.discord.expectMessage({ author: host.bot, content: /Confirmation Required/ });
    expect(card.channel.id).to.equal(host.general.id);
    host.you.react(card, '👍');
    expect((await called).content).to.deep.equal([{ type: 'text', text: 'stamped' }]);
  });

  it('has one bearer, that a new one voids and a revocation ends with its session', async () => {
    const endpoint = host.resolve(McpEndpoint);
    const first = await endpoint.issue('relay:v');
    const second = await endpoint.issue('relay:v');
    expect(second.bearer).not.to.equal(first.bearer);
    expect(await connect(first.bearer).catch((error: unknown) => String(error))).to.match(/401|token/i);
    const client = await connect(second.bearer);
    expect(await endpoint.has('relay:v')).to.equal(true);
    await endpoint.revoke('relay:v');
    expect(await endpoint.has('relay:v')).to.equal(false);
    expect(await client.listTools().catch((error: unknown) => String(error))).to.match(/401|404|token/i);
  });
});
