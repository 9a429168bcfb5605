import { expect } from 'chai';
import { SnowflakeUtil } from 'discord.js';
import { closableAddress } from './closable-address.js';
import { type LettaOptions, type PromptOptions, sendPrompt, startLetta } from './harness.js';

const MINUTE_MS = 60_000;

/** While an agent works on a prompt, its server refuses one connection; then the relay tries again. */
async function refusedOnce(options: LettaOptions) {
  const world = await startLetta(options);
  const agent = world.letta.addAgent({ tools: { remember: () => 'Kept.' } });
  const address = await closableAddress(world.letta.baseUrl);
  await address.open();
  const agents = world.boot({ address: { baseUrl: address.baseUrl, apiKey: 'any' } });
  let isHeard: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    isHeard = resolve;
  });
  const startedAt = world.clock.now();
  const first = sendPrompt(agents, agent.id, 'Hello', { onEvent: () => isHeard() });
  await Promise.all([world.letta.hanging(), heard]);
  world.clock.advance(1_000);
  await address.close();
  await world.clock.armed(0);
  world.clock.advance(0);
  expect(await first).to.include({ status: 'failed', retry: true });
  await address.open();
  return {
    ...world,
    agent,
    /** When the prompt was sent, in milliseconds since the Unix epoch. */
    startedAt,
    /** Records a message that an agent has written in a channel. */
    write: (channelId: string, name: string, timestamp: number) =>
      world.authors.note(channelId, name, [SnowflakeUtil.generate({ timestamp }).toString()]),
    hasWritten: (since: number) => world.authors.hasWritten('10', 'aurora', since),
    again: (more: PromptOptions = {}) => sendPrompt(agents, agent.id, 'Hello', more),
    /** Advances the time in steps, because the relay polls the run every second. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await world.clock.armed(1_000);
        world.clock.advance(1_000);
      }
    },
    /** Advances the time until the relay has an answer. */
    async end<T>(said: Promise<T>): Promise<T> {
      let isOver = false;
      const over = said.finally(() => {
        isOver = true;
      });
      await world.letta.idle();
      while (!isOver) {
        await Promise.race([world.clock.armed(1_000), over]);
        if (!isOver) world.clock.advance(1_000);
      }
      return said;
    },
    async [Symbol.asyncDispose]() {
      await address[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

describe('relay: a Letta server that has refused a connection while an agent was at work', () => {
  for (const [server, options] of Object.entries({
    'with background runs': {},
    'that has no conversations': { conversations: false },
  })) {
    describe(`(a server ${server})`, () => {
      it('is not sent the prompt again while the run lives', async () => {
        await using world = await refusedOnce({ ...options, script: (turn) => turn.hang().then(() => 'Here I am.') });
        const said = world.again();
        await world.pass(5_000);
        world.letta.release();
        expect(await world.end(said))
          .to.have.property('texts')
          .that.deep.equals(['Here I am.']);
        expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['completed']);
      });

      it('lets a run that makes progress have the time of an agent', async () => {
        await using world = await refusedOnce({
          ...options,
          script: async (turn) => {
            await turn.hang();
            await turn.callTool('remember');
            await turn.hang();
            turn.say('Here I am.');
          },
        });
        const said = world.again();
        await world.pass(1_000);
        world.letta.release();
        await world.letta.hanging();
        await world.pass(MINUTE_MS + 20_000);
        world.letta.release();
        expect(await world.end(said))
          .to.have.property('texts')
          .that.deep.equals(['Here I am.']);
        expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['completed']);
      });

      it('is not sent it again when the agent has written in its channel meanwhile', async () => {
        await using world = await refusedOnce({ ...options, script: (turn) => turn.hang() });
        await world.write('10', 'aurora', world.startedAt);
        world.letta.crash();
        const said = world.again({ hasWritten: world.hasWritten });
        await world.pass(MINUTE_MS);
        expect(await world.end(said)).to.include({ status: 'failed', retry: false });
        expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['cancelled']);
      });

      it('is sent it again when it had written before, has written elsewhere, or another agent has written', async () => {
        let answers = false;
        await using world = await refusedOnce({ ...options, script: (turn) => (answers ? 'Again.' : turn.hang()) });
        await world.write('10', 'aurora', world.startedAt - 1);
        await world.write('11', 'aurora', world.startedAt);
        await world.write('10', 'scout', world.startedAt);
        world.letta.crash();
        answers = true;
        const said = world.again({ hasWritten: world.hasWritten });
        await world.pass(MINUTE_MS);
        expect(await world.end(said))
          .to.have.property('texts')
          .that.deep.equals(['Again.']);
        expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['cancelled', 'completed']);
      });

      it('is sent it again once the run has made no progress for the time of an agent', async () => {
        let answers = false;
        await using world = await refusedOnce({ ...options, script: (turn) => (answers ? 'Again.' : turn.hang()) });
        world.letta.crash();
        answers = true;
        const said = world.again();
        await world.pass(MINUTE_MS);
        expect(await world.end(said))
          .to.have.property('texts')
          .that.deep.equals(['Again.']);
        expect(world.letta.runs.map(({ status }) => status)).to.deep.equal(['cancelled', 'completed']);
      });
    });
  }
});
