import { troubleOf } from '../server/trouble.js';
import { countMessages, isOver, POLL_MS, pause } from './follow.js';
import type { RunMark, ServerFindings, Talk } from './talk.js';

/*
 * A server that was killed shows its runs as under way for ever, and so does one whose run is only slow. What tells them apart is progress:
 * a run that stores no message for as long as an agent may work is dead.
 */

/** Whether it is known that a run is dead, although the server shows it as under way. */
export function isDead({ dead }: ServerFindings, { runId, isDead }: Pick<RunMark, 'runId' | 'isDead'>): boolean {
  return isDead === true || dead.has(runId);
}

/**
 * Whether the server has refused a connection since the prompt's run was last known to be alive: it may have been restarted, and the run be
 * dead. Or only its proxy was: the run has to be asked.
 */
export function isDoubtful({ server, aliveAt }: Talk): boolean {
  return aliveAt < server.refusedAt;
}

/** Asks a run, again and again, until it is over, or has had the time that an agent may work: whether it has made progress meanwhile. */
export async function watchRun(talk: Talk, runId: string): Promise<'over' | 'alive' | 'dead'> {
  const { client, server, clock, deadline } = talk;
  const first = await markOf(talk, runId);
  for (let mark = first; mark === first && !isDead(server, mark); mark = await judge(talk, mark)) {
    if (isOver(await client.runs.retrieve(runId, { signal: deadline.signal }))) return 'over';
    await pause(clock, POLL_MS, deadline.signal);
  }
  return isDead(server, first) ? 'dead' : 'alive';
}

/** Looks at a run that has had its time for a step: one without progress is dead. */
export async function judge(talk: Talk, mark: RunMark): Promise<RunMark> {
  const { server, prompt, clock, log } = talk;
  if (clock.now() - mark.at < prompt.timeoutMs) return mark;
  const now = await markOf(talk, mark.runId);
  if (now.messages > mark.messages) return now;
  log.warn('a run of an agent makes no progress, and is taken for dead', { ...mark, agentId: prompt.agentId });
  // A run without a name may be another one at the next refusal.
  if (mark.runId !== '') server.dead.add(mark.runId);
  return { ...mark, isDead: true };
}

export async function markOf({ client, clock, deadline: { signal } }: Talk, runId: string): Promise<RunMark> {
  const messages = runId === '' ? 0 : await countMessages(client, runId, signal).catch(unlessAborted(signal));
  return { runId, messages, at: clock.now() };
}

/** A run that the server does not show is one that makes no progress. */
function unlessAborted(signal: AbortSignal) {
  return (error: unknown): number => {
    signal.throwIfAborted();
    if (troubleOf(error).kind === 'unknown-agent') return 0;
    throw error;
  };
}
