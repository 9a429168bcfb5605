import { getEventListeners } from 'node:events';
import type { AgentScript } from '@cinnabar/local-letta';
import { expect } from 'chai';
import { type LettaOptions, PLACE, SENDING, sendPrompt, startLetta } from './harness.js';

type AskApproval = NonNullable<LettaOptions['ask']>;
type ApprovalRequest = Parameters<AskApproval>[0];
type ApprovalDecision = Awaited<ReturnType<AskApproval>>;

const deleting: AgentScript = async (turn) => {
  const { status } = await turn.callTool('discord_delete_channel', { channelId: '7' });
  turn.say(`It was ${status}.`);
};

async function guarded(options: LettaOptions = {}) {
  const world = await startLetta(options);
  const deleted: unknown[] = [];
  const agent = world.letta.addAgent({
    script: deleting,
    approvals: ['discord_delete_channel'],
    tools: {
      discord_delete_channel: (input) => {
        deleted.push(input);
        return 'Gone.';
      },
    },
  });
  return { ...world, agent, deleted };
}

/** A member who has not decided yet. */
function undecided() {
  const requests: ApprovalRequest[] = [];
  let decide: (decision: ApprovalDecision) => void = () => undefined;
  let arrived: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const ask: AskApproval = (request) =>
    new Promise((resolve) => {
      requests.push(request);
      decide = resolve;
      arrived();
    });
  return { ask, asked, requests, decide: (decision: ApprovalDecision) => decide(decision) };
}

describe("relay: an agent's requests for approval", () => {
  it('are asked for, answered, and the agent goes on', async () => {
    const requests: ApprovalRequest[] = [];
    await using world = await guarded({
      async ask(request) {
        requests.push(request);
        return { approve: true };
      },
    });
    const said = await sendPrompt(world.agents, world.agent.id, 'Delete it', { key: 'batch-9' });
    expect(requests).to.have.length(1);
    expect(requests[0]).to.deep.include({
      agentId: world.agent.id,
      key: 'batch-9',
      tool: 'discord_delete_channel',
      input: '{"channelId":"7"}',
      place: PLACE,
    });
    expect(world.deleted).to.deep.equal([{ channelId: '7' }]);
    expect(said).to.have.property('texts').that.deep.equals(['It was success.']);
    expect(said.tools.map(({ name, ok }) => [name, ok])).to.deep.equal([['discord_delete_channel', true]]);
  });

  it('leave nothing hooked to the prompt once they are decided, however many it asks for', async () => {
    const listeners: number[] = [];
    await using world = await startLetta({
      async ask(_request, signal) {
        listeners.push(getEventListeners(signal, 'abort').length);
        return { approve: true };
      },
    });
    const agent = world.letta.addAgent({
      approvals: ['discord_delete_channel'],
      tools: { discord_delete_channel: () => 'Gone.' },
      script: async (turn) => {
        for (const channelId of ['7', '8', '9']) await turn.callTool('discord_delete_channel', { channelId });
        turn.say('All gone.');
      },
    });
    await sendPrompt(world.agents, agent.id, 'Delete them');
    expect(listeners).to.have.length(3);
    expect(new Set(listeners).size, listeners.join()).to.equal(1);
  });

  it('are denied with the reason that was given', async () => {
    await using world = await guarded({ ask: async () => ({ approve: false, reason: 'Not today.' }) });
    const said = await sendPrompt(world.agents, world.agent.id, 'Delete it');
    expect(said).to.have.property('texts').that.deep.equals(['It was denied.']);
    expect(world.agent.history).to.include(
      'tool_return_message: Error: request to call tool denied. User reason: Not today.',
    );
    expect(world.deleted).to.deep.equal([]);
  });

  it('are denied when there is no member to ask', async () => {
    await using world = await guarded({
      async ask() {
        throw new Error('no channel');
      },
    });
    expect(await sendPrompt(world.agents, world.agent.id, 'Delete it')).to.include({ status: 'done' });
    expect(world.deleted).to.deep.equal([]);
    expect(world.agent.pending).to.equal(false);
  });

  it('are stored before a member is asked', async () => {
    const kept: string[] = [];
    await using world = await guarded({
      async ask() {
        for await (const [callId] of world.open().lettaAsked.entries()) kept.push(callId);
        return { approve: true };
      },
    });
    await sendPrompt(world.agents, world.agent.id, 'Delete it');
    expect(kept).to.have.length(1);
    for await (const [callId] of world.open().lettaAsked.entries()) expect.fail(`${callId} is still open`);
  });

  it('do not count as the time of the agent', async () => {
    const people = undecided();
    await using world = await guarded({ ask: people.ask });
    const said = sendPrompt(world.agents, world.agent.id, 'Delete it', { timeoutMs: 30_000 });
    await people.asked;
    world.clock.advance(10 * 60_000);
    people.decide({ approve: true });
    expect(await said).to.include({ status: 'done' });
  });

  it('are denied by the next process when the bot stops before the decision', async () => {
    const people = undecided();
    await using world = await guarded({ ask: people.ask });
    const stop = new AbortController();
    const said = sendPrompt(world.agents, world.agent.id, 'Delete it', { signal: stop.signal });
    await people.asked;
    stop.abort();
    expect(await said).to.include({ status: 'failed', retry: true });
    expect(world.agent.pending, 'nothing is decided by stopping').to.equal(true);

    const next = world.boot();
    expect(await next.recover()).to.equal(1);
    expect(world.agent.pending).to.equal(false);
    expect(world.agent.history.join('\n')).to.contain('The bot was restarted before anybody decided.');
    expect(await next.recover(), 'once').to.equal(0);

    const again = await sendPrompt(next, world.agent.id, 'Delete it');
    expect(again).to.have.property('texts').that.deep.equals(['It was denied.']);
    expect(world.deleted).to.deep.equal([]);
    expect(world.letta.runs.filter(({ prompt }) => prompt !== null)).to.have.length(1);
  });

  it('are denied by the prompt itself when the server could not be reached before', async () => {
    const people = undecided();
    await using world = await guarded({ ask: people.ask });
    const stop = new AbortController();
    const said = sendPrompt(world.agents, world.agent.id, 'Delete it', { signal: stop.signal });
    await people.asked;
    stop.abort();
    await said;
    const next = world.boot();
    world.letta.faults.fail(502);
    expect(await next.recover()).to.equal(0);
    expect(await sendPrompt(next, world.agent.id, 'Delete it'))
      .to.have.property('texts')
      .that.deep.equals(['It was denied.']);
    expect(await next.recover(), 'nothing is left open').to.equal(0);
  });

  it('are not decided twice when the answer to the decision is lost', async () => {
    let asked = 0;
    await using world = await guarded({
      async ask() {
        asked += 1;
        world.letta.faults.drop({ ...SENDING, afterEffect: true });
        return { approve: true };
      },
    });
    const said = await sendPrompt(world.agents, world.agent.id, 'Delete it');
    expect(said).to.have.property('texts').that.deep.equals(['It was success.']);
    expect(asked).to.equal(1);
    expect(world.deleted).to.have.length(1);
  });

  it('are sent again when the decision itself is lost, and decided once', async () => {
    let asked = 0;
    await using world = await guarded({
      async ask() {
        asked += 1;
        world.letta.faults.drop(SENDING);
        return { approve: true };
      },
    });
    await sendPrompt(world.agents, world.agent.id, 'Look around', { key: 'batch-0' });
    const said = await sendPrompt(world.agents, world.agent.id, 'Delete it');
    expect(said).to.have.property('texts').that.deep.equals(['It was success.']);
    expect(asked).to.equal(world.letta.runs.filter(({ prompt }) => prompt !== null).length);
    expect(world.deleted).to.have.length(asked);
  });

  for (const conflict of ['refused', 'streamed'] as const) {
    it(`are denied when no card belongs to them, and the prompt is sent then (conflict ${conflict})`, async () => {
      await using world = await startLetta({ conflict });
      const agent = world.letta.addAgent();
      agent.orphanApproval('discord_ban', { userId: '5' });
      const said = await sendPrompt(world.agents, agent.id, 'Hello');
      expect(said).to.have.property('texts').that.deep.equals(['I have read: Hello']);
      expect(agent.history.join('\n')).to.contain('Nobody here knows of this request any more.');
    });
  }
});
