import { troubleOf } from '../server/trouble.js';
import { countMessages, isOver, POLL_MS, pause } from './follow.js';
import type { RunMark, ServerFindings, Talk } from './talk.js';

/**
 * Before something is sent to an agent whose server does not see to it itself, waits for what else the agent is doing: two runs at once
 * may interleave. That is what an earlier process has made it do, and the last step of a run that was cancelled. It costs the prompt none
 * of its time.
 */
export async function waitForOthers(talk: Talk): Promise<void> {
  const { server, prompt, deadline, client, stopped } = talk;
  const { agentId } = prompt;
  const cancelled = server.cancelled.get(agentId);
  const isFirst = !server.free.has(agentId);
  if (cancelled === undefined && !isFirst) return;
  await deadline.outside(async () => {
    if (cancelled !== undefined) await waitForStep(talk, cancelled);
    if (!isFirst) return;
    const { items } = await client.runs.list({ agent_id: agentId, active: true, limit: 20 }, { signal: stopped });
    for (const run of items.filter((run) => !isOver(run))) await waitForRun(talk, run.id);
  });
  deadline.signal.throwIfAborted();
  server.cancelled.delete(agentId);
  server.free.add(agentId);
}

/**
 * The server has refused the prompt because the agent is busy: lets a moment pass, so that it can be sent again. A run that has made no
 * progress for as long as an agent may work is dead: the server that it ran in was killed.
 */
export async function waitForBlocker(talk: Talk, runId: string | undefined): Promise<void> {
  const { server, prompt, deadline, clock, log, stopped } = talk;
  const { agentId } = prompt;
  await deadline.outside(async () => {
    const holder = runId ?? '';
    const isNew = talk.blocker?.runId !== holder;
    if (isNew) {
      log.info('waiting for a run that an agent is busy with', { agentId, runId });
      talk.blocker = await markOf(talk, holder);
    }
    const mark = talk.blocker ?? (await markOf(talk, holder));
    const wasDead = isDead(server, mark);
    talk.blocker = wasDead ? mark : await judge(talk, mark);
    // One that has just turned out to be dead, or was known to be, is not waited for; but where it is in the way all the same, it is.
    if (!isDead(server, talk.blocker) || (wasDead && !isNew)) await pause(clock, POLL_MS, stopped);
  });
  deadline.signal.throwIfAborted();
}

/** Resolves when the run is over, or turns out to be dead. */
async function waitForRun(talk: Talk, runId: string): Promise<void> {
  const { client, server, clock, log, prompt, stopped } = talk;
  log.info('waiting for a run that an agent was in', { agentId: prompt.agentId, runId });
  let mark = await markOf(talk, runId);
  while (!server.dead.has(runId)) {
    if (isOver(await client.runs.retrieve(runId, { signal: stopped }))) return;
    await pause(clock, POLL_MS, stopped);
    mark = await judge(talk, mark);
  }
}

/** Of a run that was cancelled the server does not say when its step has ended: only that there are more messages then. */
async function waitForStep(talk: Talk, mark: RunMark): Promise<void> {
  const { client, clock, prompt, stopped } = talk;
  while (clock.now() - mark.at < prompt.timeoutMs) {
    if ((await countMessages(client, mark.runId, stopped)) > mark.messages) return;
    await pause(clock, POLL_MS, stopped);
  }
}

/** Looks at a run that has had its time for a step: one without progress is dead. */
async function judge(talk: Talk, mark: RunMark): Promise<RunMark> {
  const { server, prompt, clock, log } = talk;
  if (clock.now() - mark.at < prompt.timeoutMs) return mark;
  const now = await markOf(talk, mark.runId);
  if (now.messages > mark.messages) return now;
  log.warn('an agent is told something although a run of it does not end', { ...mark, agentId: prompt.agentId });
  // A run without a name may be another one at the next refusal.
  if (mark.runId !== '') server.dead.add(mark.runId);
  return { ...mark, isDead: true };
}

/** Whether nobody works on a run any more, although the server shows it. */
export function isDead({ dead }: ServerFindings, mark: RunMark): boolean {
  return mark.isDead === true || dead.has(mark.runId);
}

async function markOf({ client, clock, stopped }: Talk, runId: string): Promise<RunMark> {
  const messages = runId === '' ? 0 : await countMessages(client, runId, stopped).catch(unlessStopped(stopped));
  return { runId, messages, at: clock.now() };
}

/** A run that the server does not show is one that makes no progress. */
function unlessStopped(stopped: AbortSignal) {
  return (error: unknown): number => {
    stopped.throwIfAborted();
    if (troubleOf(error).kind === 'unknown-agent') return 0;
    throw error;
  };
}
