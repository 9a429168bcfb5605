import type { AgentScript, LettaFaults } from '@cinnabar/local-letta';
import { expect } from 'chai';
import fc from 'fast-check';
import { SENDING, SENDING_TO_AGENT, sendPrompt, startLetta } from './harness.js';

type Conversed = Awaited<ReturnType<typeof sendPrompt>>;
type Mishap = (faults: LettaFaults, sending: typeof SENDING | typeof SENDING_TO_AGENT) => unknown;

/** Faults of an attempt. */
const MISHAPS = {
  none: () => undefined,
  'refused with 500': (faults) => faults.fail(500),
  'refused with 429': (faults) => faults.fail(429),
  'cannot be asked first': (faults) => faults.drop(),
  'lost before it arrives': (faults, sending) => faults.drop(sending),
  'lost after it has arrived': (faults, sending) => faults.drop({ ...sending, afterEffect: true }),
  'both a few times': (faults, sending) => {
    faults.drop({ ...sending, afterEffect: true, times: 2 });
    faults.fail(502, { times: 2 });
  },
} satisfies Record<string, Mishap>;

/** Reactions of an agent to a prompt. */
const BEHAVIOURS = ['well', 'cut before', 'cut after', 'fails before', 'fails after'] as const;

const behaviour = fc.constantFrom(...BEHAVIOURS);
const attempt = fc.record({ mishap: fc.constantFrom<Mishap[]>(...Object.values(MISHAPS)), dies: fc.boolean() });
const WELL: { readonly mishap: Mishap; readonly dies: boolean } = { mishap: MISHAPS.none, dies: false };
const server = fc.record({
  background: fc.boolean(),
  conversations: fc.boolean(),
  orphaned: fc.boolean(),
  conflict: fc.constantFrom('refused' as const, 'streamed' as const),
});

describe('relay: whatever goes wrong between it and the agent', () => {
  it('the agent posts at most once, and the outcome is known in the end', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(
        server,
        fc.array(attempt, { maxLength: 5 }),
        fc.array(behaviour, { maxLength: 4 }),
        async ({ orphaned, ...stand }, attempts, behaviours) => {
          let posts = 0;
          await using world = await startLetta({ ...stand, script: script([...behaviours]) });
          const agent = world.letta.addAgent({
            tools: {
              post: () => {
                posts += 1;
                return 'Posted.';
              },
            },
          });
          if (orphaned) agent.orphanApproval('post');
          let agents = world.agents;
          let said: Conversed | undefined;
          // Each attempt with its fault, then some attempts without faults.
          for (const { mishap, dies } of [...attempts, ...Array<typeof WELL>(8).fill(WELL)]) {
            mishap(world.letta.faults, sendingTo(stand));
            said = await driven(world.clock, sendPrompt(agents, agent.id, 'Hello', { timeoutMs: 1e9 }));
            world.letta.faults.clear();
            if (dies) agents = world.boot();
            if (said.status === 'done' || !said.retry) break;
          }
          expect(posts).to.be.at.most(1);
          expect(said).to.satisfy((end: Conversed) => end.status === 'done' || !end.retry);
          if (said?.status === 'done') expect(posts).to.equal(1);
          expect(agent.pending).to.equal(false);
        },
      ),
      { numRuns: 30 },
    );
  });
});

function sendingTo({ conversations }: { readonly conversations: boolean }) {
  return conversations ? SENDING : SENDING_TO_AGENT;
}

/** Plays one reaction in each run, then always succeeds. */
function script(behaviours: (typeof BEHAVIOURS)[number][]): AgentScript {
  return async (turn) => {
    const behaviour = behaviours.shift() ?? 'well';
    turn.reason('Hm.');
    if (behaviour === 'cut before') turn.cut();
    if (behaviour === 'fails before') turn.fail('llm_timeout', 'The model took too long.');
    await turn.callTool('post');
    if (behaviour === 'cut after') turn.cut();
    if (behaviour === 'fails after') turn.fail('llm_error', 'The model failed.');
    turn.say('Done.');
  };
}

/** Advances the time until the promise has settled. */
async function driven<T>(clock: { advance(ms: number): void }, promise: Promise<T>): Promise<T> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  promise.then(end, end);
  while (!settled) {
    await new Promise(setImmediate);
    clock.advance(100);
  }
  return promise;
}
