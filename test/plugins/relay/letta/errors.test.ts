import { expect } from 'chai';
import { SENDING, sendPrompt, startLetta } from './harness.js';

describe('relay: when a Letta server refuses', () => {
  for (const { status, retry, says } of [
    { status: 400, retry: false, says: 'did not take the message' },
    { status: 401, retry: false, says: "does not accept the bot's key" },
    { status: 404, retry: false, says: 'no such agent' },
    { status: 422, retry: false, says: 'did not take the message' },
    { status: 429, retry: true, says: 'asked too much' },
    { status: 500, retry: true, says: 'has a problem' },
    { status: 503, retry: true, says: 'has a problem' },
  ]) {
    it(`${status}: ${retry ? 'tries again' : 'does not'}, with a sentence for people`, async () => {
      await using world = await startLetta();
      const agent = world.letta.addAgent();
      world.letta.faults.fail(status, SENDING);
      const said = await sendPrompt(world.agents, agent.id, 'Hello');
      expect(said).to.include({ status: 'failed', retry });
      expect(said).to.have.property('sentence').that.contains(says);
      expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'done' });
      expect(world.letta.runs).to.have.length(1);
    });
  }

  it('passes on how much patience it asks for', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    world.letta.faults.fail(429, { ...SENDING, retryAfterSeconds: 7 });
    expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ retryAfterMs: 7_000 });
  });

  for (const [type, detail, retry, says] of [
    ['llm_authentication', 'UNAUTHENTICATED: Authentication failed with OpenAI', false, 'does not accept the key'],
    ['llm_rate_limit', 'RATE_LIMIT_EXCEEDED: Rate limited by OpenAI', true, 'asked too much'],
    ['internal_error', 'CONTEXT_WINDOW_EXCEEDED: Bad request to OpenAI', false, 'too long for its model'],
    ['llm_error', 'INTERNAL_SERVER_ERROR: OpenAI API error', true, 'has a problem at the moment'],
    ['insufficient_credits', 'Payment required', false, 'no credit left'],
    ['internal_error', 'Step with id step-1 does not exist', true, 'ran into an error'],
  ] as const) {
    it(`says what an agent's run has ended with: ${detail}`, async () => {
      await using world = await startLetta({
        script: (turn) => turn.fail(type, 'An unknown error occurred with the LLM streaming request.', detail),
      });
      const agent = world.letta.addAgent();
      const said = await sendPrompt(world.agents, agent.id, 'Hello');
      expect(said).to.include({ status: 'failed', retry });
      expect(said).to.have.property('sentence').that.contains(says);
      expect(said).to.have.property('sentence').that.does.not.contain('OpenAI');
    });
  }

  for (const [reason, retry, says] of [
    ['max_tokens_exceeded', false, 'longer than its model allows'],
    ['insufficient_credits', false, 'no credit left'],
    ['invalid_llm_response', true, 'has a problem at the moment'],
    ['no_tool_call', true, 'ran into an error'],
  ] as const) {
    it(`says that a run has failed of which the server says no more than why it stopped: ${reason}`, async () => {
      await using world = await startLetta({ script: (turn) => turn.stop(reason) });
      const agent = world.letta.addAgent();
      const heard = await sendPrompt(world.agents, agent.id, 'Hello');
      expect(heard).to.include({ status: 'failed', retry });
      expect(heard).to.have.property('sentence').that.contains(says);
      world.letta.faults.drop({ ...SENDING, afterEffect: true });
      await sendPrompt(world.agents, agent.id, 'Hello', { key: 'batch-2' });
      const found = await sendPrompt(world.boot(), agent.id, 'Hello', { key: 'batch-2' });
      expect(found).to.include({ status: 'failed', retry });
      expect(found).to.have.property('sentence').that.contains(says);
    });
  }

  it('says it also of a run that it has not heard out', async () => {
    await using world = await startLetta({
      async script(turn) {
        await turn.callTool('remember');
        turn.cut();
        await turn.hang();
        turn.fail('llm_authentication', 'Authentication failed with the LLM model provider.');
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const lost = new AbortController();
    const first = sendPrompt(world.agents, agent.id, 'Hello', { signal: lost.signal });
    await world.letta.hanging();
    lost.abort();
    await first;
    world.letta.release();
    await world.letta.idle();
    expect(await sendPrompt(world.boot(), agent.id, 'Hello')).to.include({
      status: 'failed',
      retry: false,
      sentence:
        "The agent stopped in the middle of its work. The agent's model does not accept the key of the Letta server. Its owner has to set the key anew.",
    });
  });

  it('cannot be reached', async () => {
    const world = await startLetta();
    const agent = world.letta.addAgent();
    await world[Symbol.asyncDispose]();
    const said = await sendPrompt(world.agents, agent.id, 'Hello');
    expect(said).to.include({ status: 'failed', retry: true, sentence: 'The agent cannot be reached at the moment.' });
  });

  it('has an agent, or has not', async () => {
    await using world = await startLetta({ key: 'sk-right' });
    const agent = world.letta.addAgent({ name: 'Ada', tools: { remember: () => 'Kept.' } });
    expect(await world.agents.find(agent.id)).to.deep.equal({ id: agent.id, name: 'Ada', tools: ['remember'] });
    expect(await world.agents.find('agent-00000000-0000-4000-8000-00000000ffff')).to.equal(undefined);
    expect(await world.agents.find('Ada')).to.equal(undefined);
    const stranger = world.boot({ key: 'sk-wrong' });
    expect(await sendPrompt(stranger, agent.id, 'Hello')).to.include({ status: 'failed', retry: false });
    expect(JSON.stringify(world.log.entries)).not.to.contain('sk-');
  });
});

describe('relay: the address of a Letta server', () => {
  for (const [baseUrl, says] of [
    ['ftp://letta.example.org', 'http:// or https://'],
    ['letta.example.org', 'http:// or https://'],
    ['file:///etc/passwd', 'http:// or https://'],
    ['https://bot:secret@letta.example.org', 'must not contain a user'],
    ['https://api.letta.com', 'needs a key'],
    [undefined, 'needs a key'],
  ]) {
    it(`${baseUrl ?? 'none, and no key'}: is refused at once`, async () => {
      await using world = await startLetta();
      expect(() => world.boot({ address: { baseUrl } })).to.throw(says ?? '');
    });
  }

  it('may be one of the cloud with a key, or a server without', async () => {
    await using world = await startLetta();
    expect(() => world.boot({ address: { apiKey: 'sk-let' } })).not.to.throw();
    expect(() => world.boot({ address: { baseUrl: 'http://127.0.0.1:8283' } })).not.to.throw();
  });
});
