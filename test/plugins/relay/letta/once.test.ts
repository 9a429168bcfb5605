import { expect } from 'chai';
import { startWorld, tell } from './world.js';

const MESSAGES = { route: '/v1/agents/:agentId/messages', method: 'POST' } as const;

describe('relay: an agent never answers twice', () => {
  for (const [server, options] of Object.entries({
    'with background runs': {},
    'without background runs': { background: false },
    'that knows no message again': { deduplicates: false },
  })) {
    describe(`at a server ${server}`, () => {
      it('finds what it has sent when the answer was lost', async () => {
        await using world = await startWorld(options);
        const agent = world.letta.addAgent();
        if (options && 'background' in options) await tell(world.agents, agent.id, 'Before', { key: 'batch-0' });
        world.letta.faults.drop({ ...MESSAGES, afterEffect: true });
        expect(await tell(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
        const said = await tell(world.agents, agent.id, 'Hello');
        expect(said).to.include({ status: 'done', stopReason: 'end_turn' });
        expect(said).to.have.property('texts').that.deep.equals(['I have read: Hello']);
        expect(said).to.have.property('tokens').that.is.greaterThan(0);
        expect(world.letta.runs.filter(({ prompt }) => prompt === 'Hello')).to.have.length(1);
      });

      it('waits for a run that has not shown its message yet', async () => {
        await using world = await startWorld({ ...options, script: (turn) => turn.hang() });
        const agent = world.letta.addAgent();
        const first = new AbortController();
        const lost = tell(world.agents, agent.id, 'Hello', { signal: first.signal });
        await world.letta.hanging();
        // The process dies here: nothing of what it would still do gets through.
        world.letta.faults.drop({ times: 100 });
        first.abort();
        await lost;
        world.letta.faults.clear();
        const again = tell(world.boot(), agent.id, 'Hello');
        await world.clock.armed(1_000);
        expect(agent.history).to.deep.equal([]);
        world.letta.release();
        await world.letta.idle();
        world.clock.advance(1_000);
        expect(await again).to.include({ status: 'done' });
        expect(world.letta.runs).to.have.length(1);
      });

      it('reads on when the connection is cut', async () => {
        await using world = await startWorld({
          ...options,
          script: async (turn) => {
            turn.say('One.');
            turn.cut();
            await turn.hang();
            turn.say('Two.');
          },
        });
        const agent = world.letta.addAgent();
        const said = tell(world.agents, agent.id, 'Hello');
        await world.letta.hanging();
        await world.clock.armed(0);
        world.clock.advance(0);
        world.letta.release();
        await world.letta.idle();
        world.clock.advance(1_000);
        expect(await said)
          .to.have.property('texts')
          .that.deep.equals(['One.', 'Two.']);
        expect(world.letta.runs).to.have.length(1);
      });
    });
  }

  it('knows the outcome of a batch that is told again, without asking', async () => {
    await using world = await startWorld();
    const agent = world.letta.addAgent();
    const said = await tell(world.agents, agent.id, 'Hello');
    const asked = world.letta.requests.length;
    expect(await tell(world.boot(), agent.id, 'Hello')).to.deep.equal(said);
    expect(world.letta.requests).to.have.length(asked);
  });

  it('sends again what never arrived', async () => {
    await using world = await startWorld();
    const agent = world.letta.addAgent();
    world.letta.faults.drop(MESSAGES);
    expect(await tell(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
    expect(await tell(world.agents, agent.id, 'Hello')).to.include({ status: 'done' });
    expect(world.letta.runs.map(({ otids }) => otids)).to.deep.equal([['batch-1']]);
  });

  it('sends again when the run failed before the agent did anything', async () => {
    let calls = 0;
    await using world = await startWorld({
      script(turn) {
        calls += 1;
        turn.reason('Hm.');
        if (calls === 1) turn.fail('llm_rate_limit', 'Rate limit exceeded.');
        turn.say('Hello!');
      },
    });
    const agent = world.letta.addAgent();
    expect(await tell(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
    expect(await tell(world.agents, agent.id, 'Hello'))
      .to.have.property('texts')
      .that.deep.equals(['Hello!']);
    expect(agent.history.filter((line) => line.startsWith('user_message'))).to.have.length(1);
  });

  it('does not send again when it failed after that', async () => {
    await using world = await startWorld({
      async script(turn) {
        await turn.callTool('remember');
        turn.fail('llm_rate_limit', 'Rate limit exceeded.');
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const said = await tell(world.agents, agent.id, 'Hello');
    expect(said).to.include({
      status: 'failed',
      retry: false,
      sentence: 'The agent stopped in the middle of its work.',
    });
    expect(said.tools.map(({ name }) => name)).to.deep.equal(['remember']);
    expect(await tell(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: false });
    expect(world.letta.runs).to.have.length(1);
  });

  it('is told although a run of an earlier process hangs for ever', async () => {
    await using world = await startWorld({
      script: (turn) => (turn.prompt === 'Hello' ? turn.hang() : turn.say('Yes.')),
    });
    const agent = world.letta.addAgent();
    const first = new AbortController();
    const lost = tell(world.agents, agent.id, 'Hello', { signal: first.signal });
    await world.letta.hanging();
    world.letta.faults.drop({ times: 100 });
    first.abort();
    await lost;
    world.letta.faults.clear();
    const agents = world.boot();
    const told = tell(agents, agent.id, 'Are you there?', { key: 'batch-2', timeoutMs: 3_000 });
    for (let second = 0; second < 3; second += 1) {
      await world.clock.armed(1_000);
      world.clock.advance(1_000);
    }
    expect(await told).to.include({ status: 'done' });
    expect(await tell(agents, agent.id, 'And now?', { key: 'batch-3' })).to.include({ status: 'done' });
    world.letta.release();
  });
});
