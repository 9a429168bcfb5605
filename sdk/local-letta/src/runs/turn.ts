import type { Message } from '@letta-ai/letta-client/resources/agents/messages';
import { assistant, hiddenReasoning, ping, reasoning, type SaidMessage, userMessage } from '../payload/chunks.js';
import type { AgentTurn } from '../script.js';
import type { LettaRun } from '../state/run.js';
import { RunEnded } from './errors.js';
import { pause } from './pause.js';
import type { Performance } from './perform.js';
import { emit } from './stream.js';
import { tokensOf } from './text.js';
import { createToolCalls } from './tool-calls.js';

/** The verbs of a script, and what whoever plays it needs besides. */
export interface PlayedTurn {
  readonly turn: AgentTurn;
  /** The run as it is now. */
  current(): LettaRun;
  /** Ends a step: what was sent and said is there for good. */
  store(): void;
  wait(ms: number): Promise<void>;
}

/**
 * What an agent says or calls ends a step; what it thinks, and the time that it lets pass before, belong to that step. A run that was
 * cancelled meanwhile ends after the step: what is said in it is stored, and not streamed any more.
 */
export function createTurn(performance: Performance, first: LettaRun, input: readonly Message[]): PlayedTurn {
  const { world, agent, thread, prompt } = performance;
  let run = first;
  let unsaved: Message[] = [...input];
  let inStep = false;

  const store = () => {
    inStep = false;
    if (run.dead) return;
    thread.messages.push(...unsaved);
    unsaved = [];
  };
  /** Before anything that belongs to a step. */
  const think = () => {
    if (run.dead || (!inStep && run.status === 'cancelled')) throw new RunEnded('cancelled');
    inStep = true;
  };
  const step = () => {
    think();
    if (run.usage.steps >= run.maxSteps) throw new RunEnded('max_steps');
    run.usage.steps += 1;
  };
  const tell = (message: SaidMessage, text = '') => {
    run.usage.completionTokens += tokensOf(text);
    unsaved.push(message);
    run.said.push(message);
    if (run.status !== 'cancelled') emit(run, message);
  };
  const callTools = createToolCalls({
    ...performance,
    step,
    think,
    tell,
    store,
    current: () => run,
    becomes: (next, answer) => {
      run = next;
      unsaved.push(answer);
    },
  });
  const wait = async (ms: number) => {
    think();
    if (ms > 0) await pause(world.clock, ms, run.stopped.signal);
    think();
  };

  const turn: AgentTurn = {
    agentId: agent.id,
    agentName: agent.name,
    conversationId: thread.conversationId,
    prompt: prompt.text,
    otid: prompt.otid,
    get runId() {
      return run.id;
    },
    get signal() {
      return run.stopped.signal;
    },
    get tools() {
      return agent.tools.map(({ name }) => name);
    },
    reason(text) {
      think();
      tell(reasoning(world, run, text), text);
    },
    reasonHidden() {
      think();
      tell(hiddenReasoning(world, run));
    },
    say(text) {
      step();
      tell(assistant(world, run, text), text);
      store();
    },
    async callTool(name, input = {}, options = {}) {
      const [outcome] = await callTools([{ name, input, ...options }]);
      if (outcome === undefined) throw new Error('a call has no outcome');
      return outcome;
    },
    callTools,
    alert(text) {
      think();
      unsaved.push(userMessage(world, run, text, world.id('message')));
    },
    ping() {
      think();
      emit(run, ping(world, run));
    },
    wait,
    async hang() {
      think();
      await world.standing.stand(run.stopped.signal);
      think();
    },
    cut() {
      for (const tellListener of [...run.listeners]) tellListener('cut');
    },
    fail(type, message, detail = message): never {
      throw new RunEnded('error', { type, message, detail });
    },
    stop(reason): never {
      throw new RunEnded(reason);
    },
  };
  return { turn, current: () => run, store, wait };
}
