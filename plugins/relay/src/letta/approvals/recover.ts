import type { Letta } from '@letta-ai/letta-client';
import type { AskedApproval } from '../collections.js';
import { createDeadline } from '../runs/deadline.js';
import { openStream } from '../runs/send.js';
import type { TalkParts } from '../runs/talk.js';
import type { Connect } from '../server/connect.js';
import { troubleOf } from '../server/trouble.js';
import { answerTo, RESTARTED } from './answer.js';

/** How long each agent may take with a denial. */
const PATIENCE_MS = 60_000;

/** Denies what an earlier process has left open. What cannot be told now stays open: the agent's next prompt comes upon it. */
export async function recoverApprovals(parts: TalkParts, connect: Connect): Promise<number> {
  const open = new Map<string, AskedApproval[]>();
  for await (const [, asked] of parts.store.lettaAsked.entries()) {
    const of = `${asked.agentId} ${asked.key}`;
    open.set(of, [...(open.get(of) ?? []), asked]);
  }
  if (open.size === 0) return 0;
  const client = await connect();
  const denied = await Promise.all([...open.values()].map((asked) => deny(parts, client, asked)));
  return denied.reduce((sum, count) => sum + count, 0);
}

async function deny(parts: TalkParts, client: Letta, asked: readonly AskedApproval[]): Promise<number> {
  const { server, store, clock, log } = parts;
  const [first] = asked;
  if (first === undefined) return 0;
  const { agentId } = first;
  const deadline = createDeadline(clock, PATIENCE_MS, new AbortController().signal);
  const calls = asked.map(({ callId, tool, input }) => ({ callId, name: tool, input }));
  try {
    for await (const _ of await openStream(
      client,
      server,
      agentId,
      answerTo(calls, first.key, () => RESTARTED),
      deadline.signal,
    ));
  } catch (error) {
    // Decided elsewhere, or the agent is gone: then there is nothing left to answer.
    const { retry, sentence } = troubleOf(error);
    if (retry) {
      log.warn('a request for approval could not be denied yet', { agentId, sentence, error });
      return 0;
    }
  } finally {
    deadline.end();
  }
  await Promise.all(asked.map(({ callId }) => store.lettaAsked.of(callId).delete()));
  return asked.length;
}
