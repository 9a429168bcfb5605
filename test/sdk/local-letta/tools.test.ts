import { expect } from 'chai';
import { startBench } from './bench.js';
import { startMcpHost } from './mcp-host.js';

const BEARER = 'bearer-of-the-agent';

async function registered() {
  const bench = await startBench();
  const host = await startMcpHost(BEARER);
  const server = await bench.client.mcpServers.create({
    server_name: 'cinnabar',
    config: {
      mcp_server_type: 'streamable_http',
      server_url: host.url,
      auth_header: 'Authorization',
      auth_token: `Bearer ${BEARER}`,
    },
  });
  return {
    ...bench,
    host,
    serverId: server.id ?? '',
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

describe('Letta stand-in: tools of an MCP server', () => {
  it('asks the server for its tools when it is registered, and again when it is told to', async () => {
    await using bench = await registered();
    const names = async () => (await bench.client.mcpServers.tools.list(bench.serverId)).map(({ name }) => name);
    expect(await names()).to.deep.equal(['discord_send', 'discord_read_messages']);
    bench.host.offered = ['discord_send', 'discord_add_reaction'];
    expect(await bench.client.mcpServers.refresh(bench.serverId)).to.deep.equal({
      added: ['discord_add_reaction'],
      updated: ['discord_send'],
      deleted: ['discord_read_messages'],
    });
    expect(await names()).to.deep.equal(['discord_send', 'discord_add_reaction']);
    expect((await bench.client.tools.list({ name: 'discord_send' })).items[0]).to.include({
      tool_type: 'external_mcp',
    });
  });

  it('lets agents really call the tools that they have, and no others', async () => {
    await using bench = await registered();
    const outcomes: unknown[] = [];
    const agent = bench.letta.addAgent({
      script: async (turn) => {
        for (const name of ['discord_send', 'discord_read_messages'])
          outcomes.push(await turn.callTool(name, { message: 'Hi!' }));
        outcomes.push(await turn.callTool('discord_send', { message: 'broken' }));
      },
    });
    const [send] = await bench.client.mcpServers.tools.list(bench.serverId);
    await bench.client.agents.tools.attach(send?.id ?? '', { agent_id: agent.id });
    expect(agent.tools).to.deep.equal(['discord_send']);
    await bench.tell(agent.id, 'Say hi');
    expect(outcomes).to.deep.equal([
      { status: 'success', text: 'Sent as message 1' },
      { status: 'error', text: 'Tool discord_read_messages not found' },
      { status: 'error', text: 'No such channel.' },
    ]);
    expect(bench.host.sent).to.deep.equal(['Hi!']);
    await bench.client.agents.tools.detach(send?.id ?? '', { agent_id: agent.id });
    expect((await bench.client.agents.tools.list(agent.id)).items).to.deep.equal([]);
  });

  it('is turned away with a bearer that is void, until it has the new one', async () => {
    await using bench = await registered();
    const agent = bench.letta.addAgent({ script: (turn) => turn.callTool('discord_send', { message: 'Hi!' }) });
    const [send] = await bench.client.mcpServers.tools.list(bench.serverId);
    await bench.client.agents.tools.attach(send?.id ?? '', { agent_id: agent.id });
    bench.host.bearer = 'another';
    const failed = await bench.tell(agent.id, 'Say hi');
    expect(failed.find((chunk) => chunk.message_type === 'tool_return_message')).to.include({ status: 'error' });
    const change = (config: { auth_token: string } | { custom_headers: Record<string, string> }) =>
      bench.client.mcpServers.update(bench.serverId, {
        config: { mcp_server_type: 'streamable_http', server_url: bench.host.url, ...config },
      });
    await change({ auth_token: 'another' });
    await bench.tell(agent.id, 'Say hi');
    expect(bench.host.sent, 'a token is not changed').to.deep.equal([]);
    await change({ custom_headers: { Authorization: 'Bearer another' } });
    await bench.tell(agent.id, 'Say hi');
    expect(bench.host.sent).to.deep.equal(['Hi!']);
  });

  it('forgets the tools of a server that is removed', async () => {
    await using bench = await registered();
    expect((await bench.client.mcpServers.list()).map(({ server_name }) => server_name)).to.deep.equal(['cinnabar']);
    await bench.client.mcpServers.delete(bench.serverId);
    expect(await bench.client.mcpServers.list()).to.deep.equal([]);
    expect((await bench.client.tools.list()).items).to.deep.equal([]);
  });
});
