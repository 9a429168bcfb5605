import { troubleOf } from '../errors.js';
import type { PromptContext } from './prompt-context.js';
import { countMessages, isOver, POLL_MS, pause, type RunMark, type ServerFindings, serializes } from './requests.js';

/** For how long a server takes an agent for busy with a run at most, although the run may take longer. */
const LOCKED_MS = 5 * 60_000;

/**
 * Before something is sent to an agent whose server does not see to it itself, waits for what else the agent is doing: two runs at once
 * may interleave. That is what an earlier process has made it do, and the last step of a run that was cancelled. Servers that do see to it
 * forget a run after a while, too. It costs the prompt none of its time.
 */
export async function waitForOthers(context: PromptContext): Promise<void> {
  const { server, prompt, deadline, client, log, clock } = context;
  const { agentId } = prompt;
  const cancelled = server.cancelled.get(agentId);
  if (serializes(server) && (cancelled === undefined || clock.now() - cancelled.since < LOCKED_MS)) return;
  const isFirst = !serializes(server) && !server.free.has(agentId);
  if (cancelled === undefined && !isFirst) return;
  await deadline.outside(async () => {
    if (cancelled !== undefined) await waitForStep(context, cancelled);
    if (!isFirst) return;
    const { items } = await client.runs.list(
      { agent_id: agentId, active: true, limit: 20 },
      { signal: deadline.signal },
    );
    for (const { id } of items.filter((run) => !isOver(run))) {
      log.info('waiting for a run that an agent was in', { agentId, runId: id });
      while ((await watchRun(context, id)) === 'alive');
    }
  });
  deadline.signal.throwIfAborted();
  server.cancelled.delete(agentId);
  if (isFirst) server.free.add(agentId);
}

/**
 * The server has refused the prompt because the agent is busy: lets a moment pass, so that it can be sent again. A run that has made no
 * progress for as long as an agent may work is dead: the server that it ran in was killed.
 */
export async function waitForBlocker(context: PromptContext, runId: string | undefined): Promise<void> {
  const { server, prompt, deadline, clock, log } = context;
  const { agentId } = prompt;
  await deadline.outside(async () => {
    const holder = runId ?? '';
    const isNew = context.blocker?.runId !== holder;
    if (isNew) {
      log.info('waiting for a run that an agent is busy with', { agentId, runId });
      context.blocker = await markOf(context, holder);
    }
    const mark = context.blocker ?? (await markOf(context, holder));
    const wasDead = isDead(server, mark);
    context.blocker = wasDead ? mark : await judge(context, mark);
    // One that has just turned out to be dead, or was known to be, is not waited for; but where it is in the way all the same, it is.
    if (!isDead(server, context.blocker) || (wasDead && !isNew)) await pause(clock, POLL_MS, deadline.signal);
  });
  deadline.signal.throwIfAborted();
}

/** Of a run that was cancelled the server does not say when its step has ended: only that there are more messages then. */
async function waitForStep(context: PromptContext, mark: RunMark): Promise<void> {
  const { client, server, clock, prompt, deadline } = context;
  while (!isDead(server, mark) && clock.now() - mark.at < prompt.timeoutMs) {
    if ((await countMessages(client, mark.runId, deadline.signal)) > mark.messages) return;
    await pause(clock, POLL_MS, deadline.signal);
  }
}

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
export function isDoubtful({ server, aliveAt }: PromptContext): boolean {
  return aliveAt < server.refusedAt;
}

/** Asks a run, again and again, until it is over, or has had the time that an agent may work: whether it has made progress meanwhile. */
export async function watchRun(context: PromptContext, runId: string): Promise<'over' | 'alive' | 'dead'> {
  const { client, server, clock, deadline } = context;
  const first = await markOf(context, runId);
  for (let mark = first; mark === first && !isDead(server, mark); mark = await judge(context, mark)) {
    if (isOver(await client.runs.retrieve(runId, { signal: deadline.signal }))) return 'over';
    await pause(clock, POLL_MS, deadline.signal);
  }
  return isDead(server, first) ? 'dead' : 'alive';
}

/** Looks at a run that has had its time for a step: one without progress is dead. */
async function judge(context: PromptContext, mark: RunMark): Promise<RunMark> {
  const { server, prompt, clock, log } = context;
  if (clock.now() - mark.at < prompt.timeoutMs) return mark;
  const now = await markOf(context, mark.runId);
  if (now.messages > mark.messages) return now;
  log.warn('a run of an agent makes no progress, and is taken for dead', { ...mark, agentId: prompt.agentId });
  // A run without a name may be another one at the next refusal.
  if (mark.runId !== '') server.dead.add(mark.runId);
  return { ...mark, isDead: true };
}

async function markOf({ client, clock, deadline: { signal } }: PromptContext, runId: string): Promise<RunMark> {
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
