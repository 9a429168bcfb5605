import { expect } from 'chai';
import { type McpHost, startMcpHost } from '../../../sdk/local-letta/mcp-host.js';
import { type LettaOptions, sendPrompt, startLetta } from './harness.js';

type HostRegistration = Parameters<Awaited<ReturnType<typeof startLetta>>['agents']['register']>[0];

async function hosted(options: LettaOptions = {}) {
  const world = await startLetta(options);
  const host = await startMcpHost('bearer-of-ada');
  return {
    ...world,
    host,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

function registration(host: McpHost, agentId: string, more: Partial<HostRegistration> = {}): HostRegistration {
  return {
    agentId,
    serverName: 'cinnabar',
    url: host.url,
    bearer: host.bearer,
    lister: host.bearer,
    offered: new Set(host.offered),
    ...more,
  };
}

describe("relay: the host's tools at the Letta server", () => {
  it('are registered, given to the agent, and called with its bearer', async () => {
    await using world = await hosted({ script: (turn) => turn.callTool('discord_send', { message: 'Hi!' }) });
    const agent = world.letta.addAgent();
    const registered = await world.agents.register(registration(world.host, agent.id));
    expect(registered).to.deep.include({
      attached: ['discord_send', 'discord_read_messages'],
      detached: [],
      missing: [],
      dropped: [],
    });
    await sendPrompt(world.agents, agent.id, 'Say hi');
    expect(world.host.sent).to.deep.equal(['Hi!']);
  });

  it('are only those that the agent is offered', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    await world.agents.register(registration(world.host, agent.id));
    const again = registration(world.host, agent.id, { offered: new Set(['discord_send']) });
    expect(await world.agents.register(again)).to.deep.include({
      attached: ['discord_send'],
      detached: ['discord_read_messages'],
    });
    expect(agent.tools, 'what else it has stays').to.have.members(['remember', 'discord_send']);
  });

  it('follow what the host offers', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    await world.agents.register(registration(world.host, agent.id));
    world.host.offered = ['discord_send', 'discord_add_reaction'];
    expect(await world.agents.register(registration(world.host, agent.id))).to.deep.include({
      attached: ['discord_send', 'discord_add_reaction'],
      dropped: ['discord_read_messages'],
    });
    expect(agent.tools).to.have.members(['discord_send', 'discord_add_reaction']);
  });

  it('never act as another agent, independent of the order of registration', async () => {
    await using world = await hosted({ script: (turn) => turn.callTool('discord_send', { message: turn.agentName }) });
    const [ada, bob] = [world.letta.addAgent({ name: 'Ada' }), world.letta.addAgent({ name: 'Bob' })];
    await world.agents.register(registration(world.host, ada.id));
    world.host.bearer = 'bearer-of-bob';
    await world.agents.register(registration(world.host, bob.id));
    await sendPrompt(world.agents, ada.id, 'Say it', { key: 'batch-1' });
    expect(world.host.sent, "Ada's bearer is not Bob's").to.deep.equal([]);
    await sendPrompt(world.agents, bob.id, 'Say it', { key: 'batch-2' });
    expect(world.host.sent).to.deep.equal(['Bob']);
    world.host.bearer = 'bearer-of-ada';
    await sendPrompt(world.agents, ada.id, 'Say it', { key: 'batch-3' });
    expect(world.host.sent).to.deep.equal(['Bob', 'Ada']);
  });

  it('are not available to an agent without a token', async () => {
    await using world = await hosted({ script: (turn) => turn.callTool('discord_send', { message: 'Hi!' }) });
    const [ada, eve] = [world.letta.addAgent({ name: 'Ada' }), world.letta.addAgent({ name: 'Eve' })];
    await world.agents.register(registration(world.host, ada.id));
    const { Letta } = await import('@letta-ai/letta-client');
    const client = new Letta({ baseURL: world.letta.baseUrl, apiKey: 'any' });
    for (const { id } of (await client.tools.list()).items) await client.agents.tools.attach(id, { agent_id: eve.id });
    const said = await sendPrompt(world.agents, eve.id, 'Say hi');
    expect(said.tools.map(({ ok }) => ok)).to.deep.equal([false]);
    expect(world.host.sent).to.deep.equal([]);
  });

  it('are never registered with a guessable bearer', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    await world.agents.register(registration(world.host, agent.id));
    world.host.offered = ['discord_send', 'discord_add_reaction'];
    await world.agents.register(registration(world.host, agent.id));
    world.host.bearer = 'another';
    await world.agents.register(
      registration(world.host, agent.id, { offered: new Set(['discord_ban']), bearer: 'old', lister: 'old' }),
    );
    const { Letta } = await import('@letta-ai/letta-client');
    const { mcpServers } = new Letta({ baseURL: world.letta.baseUrl, apiKey: 'any' });
    expect(await mcpServers.list()).to.have.length(1);
    expect((await mcpServers.list())[0]).to.deep.include({
      auth_token: null,
      custom_headers: { Authorization: 'Bearer {{ CINNABAR_BEARER }}' },
    });
  });

  it('are found again where an earlier version had registered them with a token', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    const { Letta } = await import('@letta-ai/letta-client');
    const { mcpServers } = new Letta({ baseURL: world.letta.baseUrl, apiKey: 'any' });
    const host = registration(world.host, agent.id);
    await mcpServers.create({
      server_name: host.serverName,
      config: { mcp_server_type: 'streamable_http', server_url: host.url, auth_token: 'Bearer {{ CINNABAR_BEARER }}' },
    });
    expect(await world.agents.register(host)).to.deep.include({ missing: [] });
  });

  it('leave the secrets of an agent as they are', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    const { Letta } = await import('@letta-ai/letta-client');
    const { agents } = new Letta({ baseURL: world.letta.baseUrl, apiKey: 'any' });
    const secrets = async () =>
      ((await agents.retrieve(agent.id, { include: ['agent.secrets'] })).secrets ?? []).map(({ key }) => key);
    await agents.update(agent.id, { secrets: { COLOUR: 'red' } });
    await world.agents.register(registration(world.host, agent.id));
    expect(await secrets()).to.have.members(['COLOUR', 'CINNABAR_BEARER']);
    await agents.update(agent.id, { secrets: { COLOUR: '********' } });
    const error: unknown = await world.agents
      .register(registration(world.host, agent.id))
      .catch((error: unknown) => error);
    expect(error).to.have.property('message').that.contains('would be lost');
    expect(await secrets()).to.deep.equal(['COLOUR']);
  });

  it('are missing when the server cannot get them', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    const wrong = registration(world.host, agent.id, { bearer: 'guessed', lister: 'guessed' });
    expect(await world.agents.register(wrong)).to.deep.include({
      attached: [],
      missing: ['discord_send', 'discord_read_messages'],
    });
  });

  it("are known by name for the prompt's hints, and asked for again after a minute", async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const asked = () => world.letta.requests.filter(({ route }) => route === '/v1/agents/:agentId/tools').length;
    expect([...(await world.agents.toolsOf(agent.id))]).to.deep.equal(['remember']);
    await world.agents.toolsOf(agent.id);
    expect(asked()).to.equal(1);
    world.clock.advance(60_000);
    await world.agents.toolsOf(agent.id);
    expect(asked()).to.equal(2);
    await world.agents.register(registration(world.host, agent.id));
    expect([...(await world.agents.toolsOf(agent.id))]).to.include('discord_send');
  });

  it('are unknown, and asked for again at once, while the server is down', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    world.letta.faults.fail(500);
    expect([...(await world.agents.toolsOf(agent.id))]).to.deep.equal([]);
    expect([...(await world.agents.toolsOf(agent.id))]).to.deep.equal(['remember']);
  });

  it('are gone when they are taken back', async () => {
    await using world = await hosted();
    const agent = world.letta.addAgent();
    await world.agents.register(registration(world.host, agent.id));
    await world.agents.unregister('cinnabar');
    expect(agent.tools).to.deep.equal([]);
    await world.agents.unregister('cinnabar');
  });
});
