import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { closableAddress } from './closable-address.js';
import { SENDING, SENDING_TO_AGENT, sendPrompt, startLetta } from './harness.js';

describe('relay: an agent never answers twice', () => {
  for (const [server, options] of Object.entries({
    'with background runs': {},
    'without background runs': { background: false },
    'that has no conversations': { conversations: false },
  })) {
    const sending = 'conversations' in options ? SENDING_TO_AGENT : SENDING;
    describe(`at a server ${server}`, () => {
      it('finds what it has sent when the answer was lost', async () => {
        await using world = await startLetta(options);
        const agent = world.letta.addAgent();
        await sendPrompt(world.agents, agent.id, 'Before', { key: 'batch-0' });
        world.letta.faults.drop({ ...sending, afterEffect: true });
        expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
        const said = await sendPrompt(world.agents, agent.id, 'Hello');
        expect(said).to.include({ status: 'done', stopReason: 'end_turn' });
        expect(said).to.have.property('texts').that.deep.equals(['I have read: Hello']);
        expect(said).to.have.property('tokens').that.is.greaterThan(0);
        expect(world.letta.runs.filter(({ prompt }) => prompt === 'Hello')).to.have.length(1);
      });

      it('waits for a run that has not shown its message yet', async () => {
        await using world = await startLetta({ ...options, script: (turn) => turn.hang() });
        const agent = world.letta.addAgent();
        const first = new AbortController();
        const lost = sendPrompt(world.agents, agent.id, 'Hello', { signal: first.signal });
        await world.letta.hanging();
        // Simulates the death of the process: its requests do not reach the server.
        world.letta.faults.drop({ times: 100 });
        first.abort();
        await lost;
        world.letta.faults.clear();
        const again = sendPrompt(world.boot(), agent.id, 'Hello');
        await world.clock.armed(1_000);
        expect(agent.history).to.deep.equal([]);
        world.letta.release();
        await world.letta.idle();
        world.clock.advance(1_000);
        expect(await again).to.include({ status: 'done' });
        expect(world.letta.runs).to.have.length(1);
      });

      it('reads on when the connection is cut', async () => {
        await using world = await startLetta({
          ...options,
          script: async (turn) => {
            turn.say('One.');
            turn.cut();
            await turn.hang();
            turn.say('Two.');
          },
        });
        const agent = world.letta.addAgent();
        const said = sendPrompt(world.agents, agent.id, 'Hello');
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
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    const said = await sendPrompt(world.agents, agent.id, 'Hello');
    const asked = world.letta.requests.length;
    expect(await sendPrompt(world.boot(), agent.id, 'Hello')).to.deep.equal(said);
    expect(world.letta.requests).to.have.length(asked);
  });

  it('sends again what never arrived', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    world.letta.faults.drop(SENDING);
    expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
    expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'done' });
    expect(world.letta.runs.map(({ otids }) => otids)).to.deep.equal([['batch-1']]);
  });

  it('reads on in a run that began after the server had been away', async () => {
    await using world = await startLetta({
      script: async (turn) => {
        turn.say('One.');
        turn.cut();
        await turn.hang();
        turn.say('Two.');
      },
    });
    const agent = world.letta.addAgent();
    await using address = await closableAddress(world.letta.baseUrl);
    const agents = world.boot({ address: { baseUrl: address.baseUrl, apiKey: 'any' } });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await sendPrompt(agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
      world.clock.advance(5_000);
    }
    await address.open();
    let isOver = false;
    const said = sendPrompt(agents, agent.id, 'Hello').finally(() => {
      isOver = true;
    });
    await world.letta.hanging();
    await world.clock.armed(0);
    world.clock.advance(0);
    const readsOn = () => world.letta.requests.some(({ path }) => /\/runs\/[^/]+\/stream/.test(path));
    while (!readsOn() && !isOver) await setImmediate();
    world.letta.release();
    await world.letta.idle();
    world.clock.advance(1_000);
    expect(await said)
      .to.have.property('texts')
      .that.deep.equals(['One.', 'Two.']);
    expect(world.letta.runs).to.have.length(1);
  });

  it('sends again when the run failed before the agent did anything', async () => {
    let calls = 0;
    await using world = await startLetta({
      script(turn) {
        calls += 1;
        turn.reason('Hm.');
        if (calls === 1) turn.fail('llm_rate_limit', 'Rate limit exceeded.');
        turn.say('Hello!');
      },
    });
    const agent = world.letta.addAgent();
    expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: true });
    expect(await sendPrompt(world.agents, agent.id, 'Hello'))
      .to.have.property('texts')
      .that.deep.equals(['Hello!']);
    expect(agent.history.filter((line) => line.startsWith('user_message'))).to.have.length(1);
  });

  it('does not send again when it failed after that', async () => {
    await using world = await startLetta({
      async script(turn) {
        await turn.callTool('remember');
        turn.fail('llm_rate_limit', 'Rate limit exceeded.');
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    const said = await sendPrompt(world.agents, agent.id, 'Hello');
    expect(said).to.include({
      status: 'failed',
      retry: false,
      sentence:
        "The agent stopped in the middle of its work. The agent's model has been asked too much for the moment.",
    });
    expect(said.tools.map(({ name }) => name)).to.deep.equal(['remember']);
    expect(await sendPrompt(world.agents, agent.id, 'Hello')).to.include({ status: 'failed', retry: false });
    expect(world.letta.runs).to.have.length(1);
  });

  it('tells of its own answer, whatever else the server has put into the history', async () => {
    await using world = await startLetta({
      async script(turn) {
        turn.alert('<system-alert>Your memory was summed up.</system-alert>');
        await turn.callTool('remember');
        turn.alert('<system-alert>Go on.</system-alert>');
        turn.say(`About ${turn.prompt}`);
      },
    });
    const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
    await sendPrompt(world.agents, agent.id, 'what was said in #staff', { key: 'batch-0' });
    world.letta.faults.drop({ ...SENDING, afterEffect: true });
    await sendPrompt(world.agents, agent.id, 'the weather');
    const said = await sendPrompt(world.agents, agent.id, 'the weather');
    expect(said).to.have.property('texts').that.deep.equals(['About the weather']);
    expect(said.tools.map(({ name }) => name)).to.deep.equal(['remember']);
  });

  it('hears of all calls of a step, whose outcomes come in one message', async () => {
    await using world = await startLetta({
      script: async (turn) => void (await turn.callTools([{ name: 'remember' }, { name: 'forget' }])),
    });
    const agent = world.letta.addAgent({
      tools: { remember: () => 'Kept.', forget: () => Promise.reject(new Error()) },
    });
    const said = await sendPrompt(world.agents, agent.id, 'Hello');
    expect(said.tools.map(({ name, ok }) => [name, ok])).to.deep.equal([
      ['remember', true],
      ['forget', false],
    ]);
  });
});

describe('relay: an agent works on one thing at a time', () => {
  for (const [server, options, minutes] of [
    ['with conversations', {}, 1],
    ['with conversations, which has forgotten the run', {}, 10],
    ['without background runs', { background: false }, 1],
    ['that has no conversations', { conversations: false }, 1],
  ] as const) {
    it(`and so the next prompt waits for the end of a run that was cancelled (a server ${server})`, async () => {
      await using world = await startLetta({
        ...options,
        script: async (turn) => {
          if (turn.prompt !== 'Hello') return void turn.say('Yes.');
          await turn.hang();
          await turn.callTool('remember');
        },
      });
      const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
      const late = sendPrompt(world.agents, agent.id, 'Hello', { timeoutMs: minutes * 60_000 });
      await world.letta.hanging();
      world.clock.advance(minutes * 60_000);
      expect(await late).to.include({ sentence: `The agent took longer than ${minutes * 60} s.` });
      const next = sendPrompt(world.agents, agent.id, 'And now?', { key: 'batch-2', timeoutMs: 30_000 });
      await world.clock.armed(1_000);
      world.letta.release();
      await world.letta.idle();
      world.clock.advance(1_000);
      expect(await next).to.include({ status: 'done' });
      expect(world.letta.mostAtOnce).to.equal(1);
      expect(agent.history).to.deep.equal([
        'user_message: Hello',
        'tool_call_message: remember',
        'tool_return_message: Kept.',
        'user_message: And now?',
        'assistant_message: Yes.',
      ]);
    });
  }

  it('but does not wait for a run of a server that was killed', async () => {
    await using world = await startLetta({
      script: (turn) => (turn.prompt === 'Hello' ? turn.hang() : turn.say('Yes.')),
    });
    const agent = world.letta.addAgent();
    const stop = new AbortController();
    const lost = sendPrompt(world.agents, agent.id, 'Hello', { signal: stop.signal });
    await world.letta.hanging();
    world.letta.crash();
    stop.abort();
    await lost;
    const agents = world.boot();
    const told = sendPrompt(agents, agent.id, 'Are you there?', { key: 'batch-2', timeoutMs: 3_000 });
    for (let second = 0; second < 3; second += 1) {
      await world.clock.armed(1_000);
      world.clock.advance(1_000);
    }
    expect(await told).to.include({ status: 'done' });
    expect(await sendPrompt(agents, agent.id, 'And now?', { key: 'batch-3' })).to.include({ status: 'done' });
  });
});

describe('relay: an agent whose server says that it is busy, but not with which run', () => {
  const busy = (times: number) => ({ ...SENDING, times, detail: 'Another request is being processed' });

  it('gets the prompt after the time limit of one, and the next prompt waits again', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    world.letta.faults.fail(409, busy(4));
    const told = sendPrompt(world.agents, agent.id, 'Are you there?', { timeoutMs: 3_000 });
    for (let second = 0; second < 3; second += 1) {
      await world.clock.armed(1_000);
      world.clock.advance(1_000);
    }
    expect(await told).to.include({ status: 'done' });
    const pastRefusal = () => world.letta.requests.filter(({ route }) => route === SENDING_TO_AGENT.route).length;
    expect(pastRefusal()).to.equal(1);
    world.letta.faults.clear();
    world.letta.faults.fail(409, busy(1));
    const next = sendPrompt(world.agents, agent.id, 'And now?', { key: 'batch-2', timeoutMs: 3_000 });
    let isOver = false;
    void next.finally(() => {
      isOver = true;
    });
    const asked = world.letta.requests.length;
    while (world.letta.requests.length === asked) await setImmediate();
    void world.clock.armed(1_000).then(() => world.clock.advance(1_000));
    while (!isOver) await setImmediate();
    expect(await next).to.include({ status: 'done' });
    expect(pastRefusal()).to.equal(1);
  });
});
