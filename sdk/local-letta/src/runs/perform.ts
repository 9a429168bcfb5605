import type { Message } from '@letta-ai/letta-client/resources/agents/messages';
import type { LettaAgent, Thread } from '../state/agent.js';
import type { LettaRun } from '../state/run.js';
import type { World } from '../state/world.js';
import { RunEnded } from './errors.js';
import { finish } from './stream.js';
import { createTurn } from './turn.js';

/** Who answers what. */
export interface Performance {
  readonly world: World;
  readonly agent: LettaAgent;
  readonly thread: Thread;
  readonly prompt: { readonly text: string; readonly otid: string | null };
}

/**
 * Plays the agent's script. What was sent and said is stored at the end of each step, as the server does: a run that fails before its first
 * step has ended leaves nothing behind.
 */
export function perform(performance: Performance, first: LettaRun, input: readonly Message[]): void {
  const { world, agent } = performance;
  const { turn, current, store, wait } = createTurn(performance, first, input);
  const play = async () => {
    const script = agent.script ?? world.script ?? (({ prompt, say }) => say(`I have read: ${prompt}`));
    // Whoever asked is listening by then, as with a server that has to ask a model first.
    if (world.latencyMs === 0) await new Promise(setImmediate);
    else await wait(world.latencyMs);
    const said = await script(turn);
    if (typeof said === 'string') turn.say(said);
    store();
    finish(world, current(), 'end_turn');
  };
  play().catch((error: unknown) => {
    if (!(error instanceof RunEnded)) {
      const message = `The script threw: ${String(error)}`;
      return finish(world, current(), 'error', { type: 'internal_error', message, detail: message });
    }
    if (error.failure === undefined && error.reason !== 'cancelled') store();
    finish(world, current(), error.reason, error.failure);
  });
}
