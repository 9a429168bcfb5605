import { expect } from 'chai';
import { type PromptOptions, sendPrompt, startLetta } from './harness.js';

type AgentEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0];

describe('relay: a conversation with an agent', () => {
  it('sends one prompt as a run in the background, with the key as its id and 50 steps at most', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    expect(await sendPrompt(world.agents, agent.id, 'Hello', { key: 'batch-7' })).to.include({ status: 'done' });
    expect(world.letta.runs).to.have.length(1);
    expect(world.letta.runs[0]).to.deep.include({
      prompt: 'Hello',
      otids: ['batch-7'],
      maxSteps: 50,
      background: true,
    });
  });

  it('hears every kind of chunk', async () => {
    await using world = await startLetta({
      script: async (turn) => {
        turn.reason('Somebody greets me.');
        turn.reasonHidden();
        await turn.callTool('remember', { fact: 'They are kind.' });
        await turn.callTool('nothing_of_that_name');
        turn.ping();
        turn.say('Hello!');
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const events: AgentEvent[] = [];
    const said = await sendPrompt(world.agents, agent.id, 'Hi', { onEvent: (event) => events.push(event) });
    expect(events.map(({ kind }) => kind)).to.deep.equal([
      'ping',
      'reasoning',
      'reasoning',
      'tool-call',
      'tool-return',
      'tool-call',
      'tool-return',
      'ping',
      'assistant',
      'stop',
      'usage',
    ]);
    expect(said).to.include({ status: 'done', steps: 3, stopReason: 'end_turn' });
    expect(said).to.have.property('texts').that.deep.equals(['Hello!']);
    expect(said.tools.map(({ name, ok }) => [name, ok])).to.deep.equal([
      ['remember', true],
      ['nothing_of_that_name', false],
    ]);
    expect(said).to.have.property('tokens').that.is.greaterThan(0);
    const logged = world.log.entries.map(({ level, message }) => `${level}: ${message}`);
    expect(logged).to.include('debug: the agent reasons').and.include('info: the agent calls a tool');
    expect(logged).to.include('warn: a tool of the agent failed');
  });

  it('works without background runs where the server has none', async () => {
    await using world = await startLetta({ background: false });
    const agent = world.letta.addAgent();
    expect(await sendPrompt(world.agents, agent.id, 'One', { key: 'batch-1' })).to.include({ status: 'done' });
    expect(await sendPrompt(world.agents, agent.id, 'Two', { key: 'batch-2' })).to.include({ status: 'done' });
    const sent = world.letta.requests.filter(({ method }) => method === 'POST');
    expect(sent, 'it asks once whether there are any').to.have.length(3);
  });

  it('tells an agent one thing after another, and agents side by side', async () => {
    await using world = await startLetta({ script: (turn) => turn.hang() });
    const [first, second] = [world.letta.addAgent(), world.letta.addAgent()];
    const said = [
      sendPrompt(world.agents, first.id, 'One', { key: 'batch-1' }),
      sendPrompt(world.agents, first.id, 'Two', { key: 'batch-2' }),
      sendPrompt(world.agents, second.id, 'Three', { key: 'batch-3' }),
    ];
    await world.letta.started(2);
    expect(world.letta.runs.map(({ agentId }) => agentId)).to.have.members([first.id, second.id]);
    await world.letta.hanging(2);
    world.letta.release();
    await world.letta.started(3);
    expect(world.letta.runs[2]).to.include({ prompt: 'Two' });
    await world.letta.hanging();
    world.letta.release();
    for (const one of await Promise.all(said)) expect(one).to.include({ status: 'done' });
    expect(world.letta.mostAtOnce).to.equal(2);
  });

  it('waits for a run that an earlier process has left behind', async () => {
    await using world = await startLetta({ script: (turn) => turn.hang() });
    const agent = world.letta.addAgent();
    const stop = new AbortController();
    const first = sendPrompt(world.agents, agent.id, 'One', { signal: stop.signal });
    await world.letta.hanging();
    // Simulates the death of the process: its requests do not reach the server.
    world.letta.faults.drop({ times: 100 });
    stop.abort();
    await first;
    world.letta.faults.clear();
    const second = sendPrompt(world.boot(), agent.id, 'Two', { key: 'batch-2' });
    await world.clock.armed(1_000);
    expect(world.letta.runs).to.have.length(1);
    world.letta.release();
    await world.letta.idle();
    world.clock.advance(1_000);
    await world.letta.started(2);
    await world.letta.hanging();
    world.letta.release();
    expect(await second).to.include({ status: 'done' });
    expect(world.letta.mostAtOnce).to.equal(1);
  });

  it('cancels the run of an agent that takes too long', async () => {
    await using world = await startLetta({ script: (turn) => turn.hang() });
    const agent = world.letta.addAgent();
    const said = sendPrompt(world.agents, agent.id, 'Hello', { timeoutMs: 30_000 });
    await world.letta.hanging();
    world.clock.advance(30_000);
    expect(await said).to.include({ status: 'failed', retry: false, sentence: 'The agent took longer than 30 s.' });
    expect(world.letta.runs[0]).to.include({ status: 'cancelled' });
    expect(world.clock.pending).to.equal(0);
  });

  it('lets an agent go on when the bot stops, and takes up after that what it has done', async () => {
    await using world = await startLetta({
      script: async (turn) => {
        await turn.hang();
        turn.say('Thought about.');
      },
    });
    const agent = world.letta.addAgent();
    const stop = new AbortController();
    const said = sendPrompt(world.agents, agent.id, 'Hello', { signal: stop.signal });
    await world.letta.hanging();
    stop.abort();
    expect(await said).to.include({ status: 'failed', retry: true });
    expect(world.letta.runs[0]).to.include({ status: 'running' });

    const again = sendPrompt(world.boot(), agent.id, 'Hello');
    await world.clock.armed(1_000);
    world.letta.release();
    await world.letta.idle();
    world.clock.advance(1_000);
    expect(await again)
      .to.have.property('texts')
      .that.deep.equals(['Thought about.']);
    expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['completed']);
  });

  it('does so also with one that was using a tool', async () => {
    await using world = await startLetta({
      script: async (turn) => {
        await turn.callTool('remember');
        await turn.hang();
        turn.say('Remembered.');
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const stop = new AbortController();
    const said = sendPrompt(world.agents, agent.id, 'Hello', {
      signal: stop.signal,
      onEvent: ({ kind }) => kind === 'tool-return' && stop.abort(),
    });
    expect(await said).to.include({ status: 'failed', retry: true });
    const again = sendPrompt(world.boot(), agent.id, 'Hello');
    await world.clock.armed(1_000);
    world.letta.release();
    await world.letta.idle();
    world.clock.advance(1_000);
    const end = await again;
    expect(end).to.have.property('texts').that.deep.equals(['Remembered.']);
    expect(end.tools.map(({ name, ok }) => [name, ok])).to.deep.equal([['remember', true]]);
    expect(world.letta.runs).to.have.length(1);
  });

  it('survives a listener that throws', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    const said = sendPrompt(world.agents, agent.id, 'Hello', {
      onEvent() {
        throw new Error('no');
      },
    });
    expect(await said).to.include({ status: 'done' });
  });
});
