import type { Actor, SettledOutcome, Tools } from '@cinnabar/sdk';
import { PLUGIN } from '../agents/identity.js';
import { APPROVE } from './tool.js';

/** A call that waits at the Letta server for somebody's yes. */
export interface Asked {
  /** The server's id of the call: it is asked for once, also after a restart. */
  readonly callId: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type Answer = { readonly approve: true } | { readonly approve: false; readonly reason: string };

/** Asks a person, by a card where they are, whether an agent may use a tool of its own. Whatever comes of it is an answer. */
export async function askPerson(tools: Tools, actor: Actor, asked: Asked, signal: AbortSignal): Promise<Answer> {
  const outcome = await tools.invoke({
    name: APPROVE,
    arguments: { agent: asked.agent, tool: asked.tool, arguments: asked.arguments },
    actor,
    origin: PLUGIN,
    key: `${PLUGIN}:approval:${asked.callId}`,
    signal,
  });
  return answerOf(outcome.status === 'deferred' ? await outcome.settled : outcome);
}

function answerOf(outcome: SettledOutcome): Answer {
  switch (outcome.status) {
    case 'done':
      return { approve: true };
    case 'failed':
      return { approve: false, reason: outcome.error.message };
    default:
      return { approve: false, reason: outcome.reason };
  }
}
