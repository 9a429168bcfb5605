import Letta from '@letta-ai/letta-client';
import { expect } from 'chai';
import { kinds, read, rejection, startBench } from './bench.js';

describe('Letta stand-in: messages', () => {
  it('streams every kind of chunk as the real client reads it', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      tools: { remember: () => 'Kept.' },
      script: async (turn) => {
        turn.reason('Somebody greets me.');
        turn.reasonHidden();
        await turn.callTool('remember', { fact: 'They are kind.' });
        turn.ping();
        turn.say('Hello!');
      },
    });
    const chunks = await bench.tell(agent.id, 'Hi');
    expect(kinds(chunks)).to.deep.equal([
      'ping',
      'reasoning_message',
      'hidden_reasoning_message',
      'tool_call_message',
      'tool_return_message',
      'ping',
      'assistant_message',
      'stop_reason',
      'usage_statistics',
    ]);
    expect(chunks[3]).to.have.nested.property('tool_call.arguments', '{"fact":"They are kind."}');
    expect(chunks[4]).to.include({ status: 'success', tool_return: 'Kept.' });
    expect(chunks.at(-2)).to.include({ stop_reason: 'end_turn' });
    expect(chunks.at(-1)).to.include({ step_count: 2 });
  });

  it('answers as a whole when it is not asked to stream, and keeps the history', async () => {
    await using bench = await startBench({ script: ({ prompt }) => `You said ${prompt}` });
    const { id } = await bench.client.agents.create({ name: 'Ada' });
    const answer = await bench.client.agents.messages.create(id, {
      messages: [{ role: 'user', content: 'Hi', otid: 'o1' }],
    });
    expect(answer.stop_reason.stop_reason).to.equal('end_turn');
    expect(answer.messages.map((message) => message.message_type)).to.deep.equal(['assistant_message']);
    const history = (await bench.client.agents.messages.list(id, { limit: 10, order: 'asc' })).items;
    expect(history.map((message) => message.message_type)).to.deep.equal(['user_message', 'assistant_message']);
    expect(history[0]).to.include({ otid: 'o1', content: 'Hi' });
    expect((await bench.client.agents.messages.list(id, { limit: 1 })).items[0]).to.include({ content: 'You said Hi' });
  });

  it('ends with an error event in the middle of the stream', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      script: (turn) => {
        turn.reason('Hm.');
        turn.fail('llm_rate_limit', 'Rate limit exceeded.');
      },
    });
    const error = await rejection(bench.tell(agent.id, 'Hi'));
    expect(error).to.be.instanceOf(Letta.APIError);
    expect(error).to.have.nested.property('error.error_type', 'llm_rate_limit');
    expect(bench.letta.runs[0]).to.include({ status: 'failed', stopReason: 'error' });
    expect(agent.history, 'a run that fails in its first step leaves nothing behind').to.deep.equal([]);
  });

  it('stops an agent that takes more steps than it may', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      tools: { look: () => 'Nothing.' },
      script: async (turn) => {
        for (;;) await turn.callTool('look');
      },
    });
    const chunks = await read(
      await bench.client.agents.messages.create(agent.id, {
        messages: [{ role: 'user', content: 'Go' }],
        streaming: true,
        max_steps: 3,
      }),
    );
    expect(chunks.filter(({ message_type }) => message_type === 'tool_call_message')).to.have.length(3);
    expect(chunks.at(-2)).to.include({ stop_reason: 'max_steps' });
  });

  it('keeps background runs, from any chunk on, for clients that reconnect', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent({
      script: async (turn) => {
        turn.reason('One.');
        await turn.hang();
        turn.say('Two.');
      },
    });
    const stream = await bench.client.conversations.messages.create('default', {
      agent_id: agent.id,
      messages: [{ role: 'user', content: 'Hi', otid: 'event-1' }],
      streaming: true,
      background: true,
    });
    for await (const chunk of stream) if (chunk.message_type === 'reasoning_message') break;
    const run = bench.letta.runs[0];
    expect(run).to.include({ status: 'running', background: true });
    bench.letta.release();
    const rest = await read(await bench.client.runs.messages.stream(run?.id ?? '', { starting_after: 2 }));
    expect(kinds(rest)).to.deep.equal(['assistant_message', 'stop_reason', 'usage_statistics']);
    expect(rest[0]).to.include({ seq_id: 3 });

    const again = await bench.converse(agent.id, 'Hi', 'event-1');
    expect(kinds(again), 'the same ids get the same run').to.include('assistant_message');
    expect(bench.letta.runs).to.have.length(1);
    expect(await bench.client.runs.retrieve(run?.id ?? '')).to.include({
      status: 'completed',
      stop_reason: 'end_turn',
    });
    expect((await bench.client.runs.list({ agent_id: agent.id, active: true })).items).to.deep.equal([]);
  });

  it('runs a message again on the route of agents, whatever its ids', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    await bench.tell(agent.id, 'Hi', { otid: 'event-0', background: true });
    await bench.tell(agent.id, 'Hi', { otid: 'event-0', background: true });
    expect(bench.letta.runs).to.have.length(2);
  });

  it('runs a foreground message again, whatever its ids', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    await bench.tell(agent.id, 'Hi', { otid: 'event-1' });
    await bench.tell(agent.id, 'Hi', { otid: 'event-1' });
    expect(bench.letta.runs.map(({ otids }) => otids)).to.deep.equal([['event-1'], ['event-1']]);
    expect(await rejection(bench.client.runs.messages.stream(bench.letta.runs[0]?.id ?? ''))).to.include({
      status: 400,
    });
  });

  it('has no background runs when it is told to have none', async () => {
    await using bench = await startBench({ background: false });
    const agent = bench.letta.addAgent();
    expect(await rejection(bench.tell(agent.id, 'Hi', { background: true }))).to.include({ status: 503 });
  });

  it('takes no message while another one is worked on, and says which run is at work', async () => {
    await using bench = await startBench({ script: (turn) => (turn.prompt === 'Hi' ? turn.hang() : undefined) });
    const agent = bench.letta.addAgent();
    const told = bench.converse(agent.id, 'Hi', 'event-1');
    await bench.letta.hanging();
    const error = await rejection(bench.converse(agent.id, 'And now?', 'event-2'));
    expect(error).to.be.instanceOf(Letta.ConflictError);
    expect(error).to.have.nested.property('error.run_id', bench.letta.runs[0]?.id);
    bench.letta.release();
    await told;
    expect(kinds(await bench.converse(agent.id, 'And now?', 'event-2'))).to.include('stop_reason');
  });

  it('only marks a run that is cancelled: its step goes on to the end, and is stored', async () => {
    await using bench = await startBench();
    const used: unknown[] = [];
    const agent = bench.letta.addAgent({
      tools: { dig: (input) => String(used.push(input)) },
      script: async (turn) => {
        await turn.hang();
        await turn.callTool('dig');
        await turn.hang();
        turn.say('Done.');
      },
    });
    const told = bench.converse(agent.id, 'Hi', 'event-1');
    await bench.letta.hanging();
    const id = bench.letta.runs[0]?.id ?? '';
    expect(await bench.client.agents.messages.cancel(agent.id, { run_ids: [id] })).to.deep.equal({ [id]: 'cancelled' });
    expect(await bench.client.runs.retrieve(id)).to.include({ status: 'cancelled' });
    expect(await rejection(bench.converse(agent.id, 'Next', 'event-2'))).to.include({ status: 409 });
    bench.letta.release();
    expect(kinds(await told)).to.deep.equal(['ping', 'stop_reason']);
    expect(used).to.have.length(1);
    expect(agent.history).to.deep.equal(['user_message: Hi', 'tool_call_message: dig', 'tool_return_message: 1']);
  });

  it('shows runs of a server that was killed as running for ever', async () => {
    await using bench = await startBench({ script: (turn) => turn.hang() });
    const agent = bench.letta.addAgent();
    const told = rejection(bench.converse(agent.id, 'Hi', 'event-1'));
    await bench.letta.hanging();
    bench.letta.crash();
    await told;
    const [run] = (await bench.client.runs.list({ agent_id: agent.id, active: true })).items;
    expect(run).to.include({ status: 'running' });
    expect(agent.history).to.deep.equal([]);
    expect(await rejection(bench.converse(agent.id, 'Next', 'event-2'))).to.have.nested.property(
      'error.run_id',
      run?.id,
    );
  });

  it('answers in conversations that know nothing of one another', async () => {
    await using bench = await startBench();
    const agent = bench.letta.addAgent();
    const { id } = await bench.client.conversations.create({ agent_id: agent.id });
    await read(await bench.client.conversations.messages.create(id, { messages: [{ role: 'user', content: 'Hi' }] }));
    expect(bench.letta.runs[0]).to.include({ conversationId: id });
    expect((await bench.client.conversations.messages.list(id, { order: 'asc' })).items[0]).to.include({
      content: 'Hi',
    });
    expect(agent.history).to.deep.equal([]);
  });
});
