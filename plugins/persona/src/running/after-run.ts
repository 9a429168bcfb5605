import type { PersonaContext } from '../context.js';
import { foldWhenLong } from '../conversation/chapters.js';
import type { ActiveRun } from './run.js';
import type { RunContext } from './run-context.js';

/** Keeps what came of a run: the minutes, the receipt, the trace. What fails is logged; what was said stays said. */
export async function afterRun(active: ActiveRun, persona: PersonaContext): Promise<void> {
  const { context, events, memoryIds, userIds } = active;
  const { author, place, signal, sessionId } = context.run;
  const { channelId } = place;
  const { log, traces } = persona;
  const attempt = async (what: string, task: () => Promise<unknown>) => {
    try {
      await task();
    } catch (error) {
      log.warn(`${what} could not be kept`, { channelId, sessionId, error });
    }
  };
  if (!signal.aborted) await attempt('the minutes', () => foldWhenLong(active, persona));
  await attempt('the receipt', () => keepReceipt(active, persona));
  await attempt('the trace', async () => {
    await traces.keep(channelId, {
      sessionId,
      askedBy: author.userId,
      userIds: [...new Set([...userIdsIn(context), ...userIds])],
      messageIds: [...new Set(messageIdsIn(context))],
      memoryIds: [...memoryIds],
      events: events.events,
    });
    // What is edited or deleted from now on takes the trace along; what was meanwhile could not.
    if (!(await isAsRead(context, persona))) await traces.forgetRun(channelId, sessionId);
  });
}

async function isAsRead({ run, recalled }: RunContext, { conversations, memories }: PersonaContext): Promise<boolean> {
  const known = await Promise.all(recalled.map(({ memory }) => memories.find(run.memoryPlace, memory.id)));
  return !known.includes(undefined) && (await conversations.stand(run.place.channelId, run.lines));
}

/** What the run had read, and what it had in mind was learned from. */
function* messageIdsIn({ run, recalled }: RunContext): Iterable<string> {
  for (const { messageIds } of run.lines) yield* messageIds;
  for (const { memory } of recalled) {
    for (const { messageId } of [memory, ...memory.evidence]) if (messageId !== null) yield messageId;
  }
}

/** Whose words a run may speak of. */
function* userIdsIn({ run, recalled }: RunContext): Iterable<string> {
  if (run.speaker !== undefined) yield run.speaker.userId;
  for (const { userId } of run.lines) if (userId !== null) yield userId;
  for (const { memory } of recalled) {
    yield memory.subject;
    yield memory.speaker;
  }
}

async function keepReceipt(
  { context, sender, completed, events }: ActiveRun,
  { calls, llm }: PersonaContext,
): Promise<void> {
  const { run, charge } = context;
  const tools = calls.take(run.sessionId);
  await llm?.finishWork(charge, {
    messageIds: sender.messageIds,
    tools,
    details: [
      `Actions: ${completed.map(({ action }) => action).join(', ') || 'none'}`,
      `Read: ${count(run.lines.length, 'message', 'messages')}, ${count(context.recalled.length, 'memory', 'memories')}`,
    ],
    notes: events.events.flatMap((event) =>
      event.type === 'system' && NOTED.has(event.event) ? [`${event.event}: ${event.message}`] : [],
    ),
  });
}

function count(number: number, one: string, several: string): string {
  return `${number} ${number === 1 ? one : several}`;
}

const NOTED: ReadonlySet<string> = new Set([
  'action_dropped',
  'action_failed',
  'repetition_stopped',
  'reworded',
  'bound_reached',
  'plan_refused',
  'stopped',
]);

export type CallLog = ReturnType<typeof createCallLog>;

/** Tool calls of the runs in progress, for their receipts. */
export function createCallLog() {
  const bySession = new Map<string, { readonly name: string; readonly outcome: string }[]>();
  return {
    note(sessionId: string, name: string, outcome: string): void {
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), { name, outcome }]);
    },
    /** Those of one run, which are forgotten with that. */
    take(sessionId: string): readonly { readonly name: string; readonly outcome: string }[] {
      const calls = bySession.get(sessionId) ?? [];
      bySession.delete(sessionId);
      return calls;
    },
  };
}
