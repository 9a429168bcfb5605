import Letta from '@letta-ai/letta-client';
import type { ApprovalCreate } from '@letta-ai/letta-client/resources/agents/messages';
import { expect } from 'chai';
import { kinds, read, rejection, startBench } from './bench.js';

async function asked() {
  const bench = await startBench();
  const deleted: unknown[] = [];
  const agent = bench.letta.addAgent({
    tools: {
      discord_delete_channel: (input) => {
        deleted.push(input);
        return 'Gone.';
      },
    },
    approvals: ['discord_delete_channel'],
    script: async (turn) => {
      const { status } = await turn.callTool('discord_delete_channel', { channelId: '7' });
      turn.say(`It was ${status}.`);
    },
  });
  const chunks = await bench.tell(agent.id, 'Delete it');
  const request = chunks.find((chunk) => chunk.message_type === 'approval_request_message');
  const callId = request?.message_type === 'approval_request_message' ? (request.tool_call.tool_call_id ?? '') : '';
  const answer = async (approval: ApprovalCreate) =>
    read(await bench.client.agents.messages.create(agent.id, { messages: [approval], streaming: true }));
  return { ...bench, agent, chunks, deleted, callId, answer };
}

describe('Letta stand-in: approvals', () => {
  it('ends the run with the request, and goes on in another one once it is approved', async () => {
    await using bench = await asked();
    expect(kinds(bench.chunks)).to.deep.equal(['ping', 'approval_request_message', 'stop_reason', 'usage_statistics']);
    expect(bench.chunks[2]).to.include({ stop_reason: 'requires_approval' });
    expect(bench.deleted).to.deep.equal([]);
    const state = await bench.client.agents.retrieve(bench.agent.id, { include: ['agent.pending_approval'] });
    expect(state.pending_approval?.tool_call).to.include({ name: 'discord_delete_channel' });

    const approval = { type: 'approval' as const, tool_call_id: bench.callId, approve: true };
    const rest = await bench.answer({ type: 'approval', approvals: [approval] });
    expect(kinds(rest)).to.deep.equal([
      'ping',
      'tool_return_message',
      'assistant_message',
      'stop_reason',
      'usage_statistics',
    ]);
    expect(bench.deleted).to.deep.equal([{ channelId: '7' }]);
  });

  it('tells the agent why it was denied', async () => {
    await using bench = await asked();
    const denial = { type: 'approval' as const, tool_call_id: bench.callId, approve: false, reason: 'not today' };
    const rest = await bench.answer({ type: 'approval', approvals: [denial] });
    expect(rest[1]).to.include({
      status: 'error',
      tool_return: 'Error: request to call tool denied. User reason: not today',
    });
    expect(rest[2]).to.include({ content: 'It was denied.' });
    expect(bench.deleted).to.deep.equal([]);
  });

  it('takes no other message until then', async () => {
    await using bench = await asked();
    const error = await rejection(bench.tell(bench.agent.id, 'Hello?'));
    expect(error).to.have.nested.property('error.message').that.contains('waiting for approval');
    const wrong = { type: 'approval' as const, tool_call_id: 'call-of-another', approve: true };
    expect(await rejection(bench.answer({ type: 'approval', approvals: [wrong] })))
      .to.have.nested.property('error.detail')
      .that.contains('Invalid tool call IDs');
    expect(bench.agent.pending).to.equal(true);
  });

  it('denies what waits when its run is cancelled', async () => {
    await using bench = await asked();
    await bench.client.agents.messages.cancel(bench.agent.id, { run_ids: [bench.letta.runs[0]?.id ?? ''] });
    expect(bench.agent.pending).to.equal(false);
    expect(bench.deleted).to.deep.equal([]);
  });

  it('refuses an unrequested approval', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    const approval = { type: 'approval' as const, tool_call_id: 'call-1', approve: true };
    const answer = async () =>
      read(
        await bench.client.agents.messages.create(agent.id, {
          messages: [{ type: 'approval', approvals: [approval] }],
          streaming: true,
        }),
      );
    expect(await rejection(answer()))
      .to.have.nested.property('error.detail')
      .that.contains('No tool call is currently awaiting approval');
  });

  it('works once more, at a message of its own, when it is told a second time what was decided', async () => {
    await using bench = await asked();
    const approval = { type: 'approval' as const, tool_call_id: bench.callId, approve: false };
    await bench.answer({ type: 'approval', approvals: [approval] });
    await bench.answer({ type: 'approval', approvals: [approval] });
    expect(bench.agent.history.filter((line) => line.startsWith('user_message'))).to.have.length(2);
    expect(bench.letta.runs).to.have.length(3);
    expect(bench.letta.runs.at(-1)?.prompt).to.contain('<system-alert>');
  });

  it('is decided about together with the other calls of its step, and all outcomes come in one message', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      tools: { look: () => 'A hill.', dig: () => 'A hole.' },
      approvals: ['dig'],
      script: async (turn) => void (await turn.callTools([{ name: 'look' }, { name: 'dig' }, { name: 'dig' }])),
    });
    const chunks = await bench.tell(agent.id, 'Go');
    const request = chunks.find((chunk) => chunk.message_type === 'approval_request_message');
    const calls = request?.message_type === 'approval_request_message' ? request.tool_calls : [];
    const ids = Array.isArray(calls) ? calls.map(({ tool_call_id }) => tool_call_id) : [];
    expect(ids).to.have.length(2);
    const approvals = ids.map((tool_call_id, index) => ({
      type: 'approval' as const,
      tool_call_id,
      approve: index === 0,
    }));
    const rest = await read(
      await bench.client.agents.messages.create(agent.id, {
        messages: [{ type: 'approval', approvals }],
        streaming: true,
      }),
    );
    const returned = rest.find((chunk) => chunk.message_type === 'tool_return_message');
    expect(returned)
      .to.have.property('tool_returns')
      .that.satisfies((returns: { tool_return: string }[]) =>
        ['A hill.', 'A hole.', 'Error: request to call tool denied. User reason: None'].every(
          (text, index) => returns[index]?.tool_return === text,
        ),
      );
  });

  it('refuses a message with 409 where it is told to, as other servers do', async () => {
    await using bench = await startBench({ conflict: 'refused' });
    const agent = bench.letta.addAgent();
    agent.orphanApproval('discord_send', { message: 'Hi' });
    const error = await rejection(bench.tell(agent.id, 'Hello?'));
    expect(error).to.be.instanceOf(Letta.ConflictError);
    expect(error).to.have.nested.property('error.detail.code', 'PENDING_APPROVAL');
  });
});
