import type { Message } from '@letta-ai/letta-client/resources/agents/messages';
import { assistant, hiddenReasoning, ping, reasoning, type SaidMessage } from '../payload/chunks.js';
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

export function createTurn(performance: Performance, first: LettaRun, input: Message): PlayedTurn {
  const { world, agent, thread, prompt } = performance;
  let run = first;
  let unsaved: Message[] = [input];

  const store = () => {
    thread.messages.push(...unsaved);
    unsaved = [];
  };
  const alive = () => {
    if (run.stopped.signal.aborted) throw new RunEnded('cancelled');
  };
  const step = () => {
    alive();
    if (run.usage.steps >= run.maxSteps) throw new RunEnded('max_steps');
    run.usage.steps += 1;
  };
  const tell = (message: SaidMessage, text = '') => {
    run.usage.completionTokens += tokensOf(text);
    unsaved.push(message);
    run.said.push(message);
    emit(run, message);
  };
  const callTool = createToolCalls({
    ...performance,
    step,
    alive,
    tell,
    store,
    current: () => run,
    becomes: (next) => {
      run = next;
    },
  });
  const wait = async (ms: number) => {
    if (ms > 0) await pause(world.clock, ms, run.stopped.signal);
    alive();
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
      alive();
      tell(reasoning(world, run, text), text);
    },
    reasonHidden() {
      alive();
      tell(hiddenReasoning(world, run));
    },
    say(text) {
      step();
      tell(assistant(world, run, text), text);
      store();
    },
    callTool,
    ping() {
      alive();
      emit(run, ping(world, run));
    },
    wait,
    async hang() {
      await world.standing.stand(run.stopped.signal);
      alive();
    },
    cut() {
      for (const tellListener of [...run.listeners]) tellListener('cut');
    },
    fail(type, message): never {
      throw new RunEnded('error', { type, message });
    },
    stop(reason): never {
      throw new RunEnded(reason);
    },
  };
  return { turn, current: () => run, store, wait };
}
