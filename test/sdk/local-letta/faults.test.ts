import { createManualClock } from '@cinnabar/sdk/testing';
import Letta from '@letta-ai/letta-client';
import { expect } from 'chai';
import { kinds, rejection, startBench } from './bench.js';

const UNKNOWN = 'agent-00000000-0000-4000-8000-00000000ffff';

describe('Letta stand-in: when things go wrong', () => {
  it('refuses strangers, and agents and ids that there are none of', async () => {
    await using bench = await startBench({ key: 'sk-let-me-in' });
    expect(await bench.client.health()).to.include({ status: 'ok' });
    expect(await rejection(bench.client.agents.retrieve(UNKNOWN))).to.include({ status: 404 });
    expect(await rejection(bench.client.agents.retrieve('agent-of-mine'))).to.include({ status: 422 });
    const stranger = new Letta({ baseURL: bench.letta.baseUrl, apiKey: 'sk-guess', maxRetries: 0, logLevel: 'off' });
    expect(await rejection(stranger.agents.list())).to.be.instanceOf(Letta.AuthenticationError);
    expect(JSON.stringify(bench.letta.requests)).not.to.contain('sk-');
  });

  it('fails the requests that it is told to fail', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    bench.letta.faults.fail(429, { route: '/v1/agents/:agentId/messages', retryAfterSeconds: 7 });
    expect(await bench.client.agents.list())
      .to.have.property('items')
      .with.length(1);
    const limited = await rejection(bench.tell(agent.id, 'Hi'));
    expect(limited).to.be.instanceOf(Letta.RateLimitError);
    expect(limited instanceof Letta.APIError && limited.headers?.get('retry-after')).to.equal('7');
    expect(bench.letta.runs).to.deep.equal([]);
    expect(kinds(await bench.tell(agent.id, 'Hi'))).to.include('assistant_message');
  });

  it('loses an answer after the message has got through', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    bench.letta.faults.drop({ afterEffect: true });
    expect(await rejection(bench.tell(agent.id, 'Hi'))).to.be.instanceOf(Letta.APIConnectionError);
    await bench.letta.idle();
    expect(agent.history).to.deep.equal(['user_message: Hi', 'assistant_message: I have read: Hi']);
  });

  it('cuts a connection in the middle, while the run goes on', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      script: (turn) => {
        turn.reason('Hm.');
        turn.cut();
        turn.say('Hello!');
      },
    });
    expect(await rejection(bench.tell(agent.id, 'Hi'))).to.be.instanceOf(Error);
    await bench.letta.idle();
    expect(bench.letta.runs[0]).to.include({ status: 'completed' });
  });

  it('takes its time on the clock that it is given', async () => {
    const clock = createManualClock();
    await using bench = await startBench({ clock, latencyMs: 200 });
    const agent = bench.letta.addAgent();
    const told = [bench.tell(agent.id, 'One'), bench.tell(agent.id, 'Two')];
    await bench.letta.started(2);
    expect(bench.letta.mostAtOnce).to.equal(2);
    clock.advance(199);
    expect(bench.letta.runs.map(({ status }) => status)).to.deep.equal(['running', 'running']);
    clock.advance(1);
    await Promise.all(told);
    expect(bench.letta.runs.map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
    expect(clock.pending).to.equal(0);
  });
});
