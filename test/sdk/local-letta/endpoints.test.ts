import { expect } from 'chai';
import { kinds, read, rejection, startBench } from './bench.js';
import { startMcpHost } from './mcp-host.js';

describe('Letta stand-in: endpoints', () => {
  it('keeps agents', async () => {
    await using bench = await startBench();
    const { agents, tools } = bench.client;
    bench.letta.addAgent({ name: 'Ada', tools: { remember: () => 'Kept.' } });
    const [tool] = (await tools.list()).items;
    expect(await tools.retrieve(tool?.id ?? '')).to.include({ name: 'remember', tool_type: 'custom' });
    const { id } = await agents.create({ name: 'Bob', tool_ids: [tool?.id ?? ''] });
    expect((await agents.list({ name: 'Bob' })).items.map((agent) => agent.id)).to.deep.equal([id]);
    expect((await agents.retrieve(id)).tools.map(({ name }) => name)).to.deep.equal(['remember']);
    await agents.update(id, { name: 'Bert', secrets: { COLOUR: 'red' } });
    const changed = await agents.retrieve(id, { include: ['agent.secrets'] });
    expect(changed).to.include({ name: 'Bert' });
    expect(changed.secrets).to.deep.equal([{ agent_id: id, key: 'COLOUR', value: 'red' }]);
    await agents.delete(id);
    expect(await rejection(agents.retrieve(id))).to.include({ status: 404 });
  });

  it('pages through a history oldest first, and with cursors that go by time, whatever the order', async () => {
    await using bench = await startBench();
    const { messages } = bench.client.agents;
    const agent = bench.letta.addAgent({ script: () => undefined });
    for (const text of ['1', '2', '3', '4', '5']) await bench.tell(agent.id, text);
    const list = async (query: { order: 'asc' | 'desc'; limit?: number; before?: string; after?: string }) =>
      (await messages.list(agent.id, query)).items;
    const texts = async (query: Parameters<typeof list>[0]) =>
      (await list(query)).map((message) => ('content' in message ? message.content : '')).join('');
    expect(await texts({ order: 'desc' })).to.equal('12345');
    expect(await texts({ order: 'desc', limit: 2 })).to.equal('45');
    expect(await texts({ order: 'asc', limit: 2 })).to.equal('12');
    const before = (await list({ order: 'desc', limit: 2 }))[0]?.id ?? '';
    expect(await texts({ order: 'desc', limit: 2, before })).to.equal('23');
    expect(await texts({ order: 'asc', limit: 2, before })).to.equal('12');
    expect(await texts({ order: 'desc', after: before })).to.equal('5');
  });

  it('tells of runs', async () => {
    await using bench = await startBench();
    const { agents, runs } = bench.client;
    const agent = bench.letta.addAgent();
    const body = { messages: [{ role: 'user' as const, content: 'Hi' }], background: true };
    expect(kinds(await read(await agents.messages.stream(agent.id, body)))).to.include('assistant_message');
    const [run] = (await runs.list({ agent_id: agent.id })).items;
    expect(run).to.include({ agent_id: agent.id, background: true, status: 'completed' });
    const said = (await runs.messages.list(run?.id ?? '', { order: 'asc' })).items;
    expect(said.map(({ message_type }) => message_type)).to.deep.equal(['user_message', 'assistant_message']);
    expect(await runs.usage.retrieve(run?.id ?? ''))
      .to.have.property('total_tokens')
      .that.is.greaterThan(0);
    expect((await runs.list({ agent_id: agent.id, statuses: ['failed'] })).items).to.deep.equal([]);
  });

  it('runs a tool of a registered server on request', async () => {
    await using bench = await startBench();
    await using host = await startMcpHost('bearer');
    const { mcpServers } = bench.client;
    const { id = '' } = await mcpServers.create({
      server_name: 'cinnabar',
      config: { mcp_server_type: 'streamable_http', server_url: host.url, auth_token: 'bearer' },
    });
    expect(await mcpServers.retrieve(id)).to.include({ server_name: 'cinnabar', server_url: host.url });
    const [send] = await mcpServers.tools.list(id);
    const result = await mcpServers.tools.run(send?.id ?? '', { mcp_server_id: id, args: { message: 'Hi!' } });
    expect(result).to.include({ status: 'success', func_return: 'Sent as message 1' });
    const config = { mcp_server_type: 'streamable_http' as const, server_url: 'ftp://host.example.org' };
    expect(await rejection(mcpServers.create({ server_name: 'wrong', config }))).to.include({ status: 422 });
  });

  it('keeps conversations', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    const { id } = await bench.client.conversations.create({ agent_id: agent.id });
    expect(await bench.client.conversations.retrieve(id)).to.include({ id, agent_id: agent.id });
  });
});
