import { type Actor, billFor, type CompletedAction } from '@cinnabar/sdk';
import type { RunParts } from '../context.js';
import { readAgain } from '../conversation/catch-up.js';
import { foldWhenLong } from '../conversation/summary.js';
import type { Teller } from './event-emitter.js';
import type { Speech } from './message-sender.js';
import type { Ask, Bounds } from './model-calls.js';
import type { Scene } from './run-context.js';
import { reasonFor } from './trigger-context.js';

export interface RunRecord {
  readonly scene: Scene;
  readonly bounds: Bounds;
  readonly teller: Teller;
  readonly speech: Speech;
  /** Those that it had in mind, added, or let go of. */
  readonly memoryIds: ReadonlySet<string>;
  /** Those of whom it added or let go of memories. */
  readonly userIds: ReadonlySet<string>;
  readonly completed: readonly CompletedAction[];
  readonly ask: Ask;
}

/** In whose name it is counted: where nobody asked, in the bot's own. */
export function payerOf({ run }: Scene): Actor {
  const { actor, place, botId } = run;
  return actor ?? { ...place, userId: botId };
}

/** After a run: the minutes, the receipt, the trace. What fails is logged; what was said stays said. */
export async function settle(record: RunRecord, parts: RunParts): Promise<void> {
  const { scene, ask, teller } = record;
  const { names, self, place, signal, sessionId } = scene.run;
  const { channelId } = place;
  const attempt = async (what: string, task: () => Promise<unknown>) => {
    try {
      await task();
    } catch (error) {
      parts.log.warn(`${what} could not be kept`, { channelId, sessionId, error });
    }
  };
  if (!signal.aborted) {
    const { historyMessages } = scene.settings;
    const again = async (messageIds: readonly string[]) => {
      const channel = parts.client.channels.cache.get(channelId);
      return channel?.isSendable() === true ? readAgain(channel, messageIds, parts) : [];
    };
    const fold = { ...parts, ask, names, self, historyMessages, readAgain: again };
    await attempt('the minutes', () => foldWhenLong(channelId, fold));
  }
  await attempt('the receipt', () => keepReceipt(record, parts));
  await attempt('the trace', async () => {
    await parts.traces.keep(channelId, {
      sessionId,
      askedBy: scene.run.author.userId,
      userIds: [...new Set([...userIdsIn(scene), ...record.userIds])],
      messageIds: [...new Set(messageIdsIn(scene))],
      memoryIds: [...record.memoryIds],
      events: teller.events,
    });
    // What is edited or deleted from now on takes the trace along; what was meanwhile could not.
    if (!(await isAsRead(scene, parts))) await parts.traces.forgetRun(channelId, sessionId);
  });
}

async function isAsRead({ run, recalled }: Scene, { conversations, memories }: RunParts): Promise<boolean> {
  const known = await Promise.all(recalled.map(({ memory }) => memories.find(run.memoryPlace, memory.id)));
  return !known.includes(undefined) && (await conversations.stand(run.place.channelId, run.lines));
}

/** What the run had read, and what it had in mind was learned from. */
function* messageIdsIn({ run, recalled }: Scene): Iterable<string> {
  for (const { messageIds } of run.lines) yield* messageIds;
  for (const { memory } of recalled) {
    for (const { messageId } of [memory, ...memory.evidence]) if (messageId !== null) yield messageId;
  }
}

/** Whose words a run may speak of. */
function* userIdsIn({ run, recalled }: Scene): Iterable<string> {
  if (run.speaker !== undefined) yield run.speaker.userId;
  for (const { userId } of run.lines) if (userId !== null) yield userId;
  for (const { memory } of recalled) {
    yield memory.subject;
    yield memory.speaker;
  }
}

async function keepReceipt({ scene, bounds, speech, completed, teller }: RunRecord, parts: RunParts): Promise<void> {
  const { accounts, llm, clock } = parts;
  const { run } = scene;
  const tools = parts.calls.take(run.sessionId);
  const [first] = bounds.completions;
  if (accounts === undefined || llm === undefined || first === undefined) return;
  const priceFor = async (model: string) => (await llm.traits(model).catch(() => undefined))?.price;
  await accounts.record({
    ...(await billFor(bounds.completions, priceFor)),
    id: run.sessionId,
    at: clock.now(),
    mind: 'persona',
    actor: payerOf(scene),
    messageIds: speech.messageIds,
    trigger: reasonFor(run.trigger),
    model: first.model,
    provider: first.provider,
    mode: first.mode,
    tools,
    details: [
      `Actions: ${completed.map(({ action }) => action).join(', ') || 'none'}`,
      `Read: ${count(run.lines.length, 'message', 'messages')}, ${count(scene.recalled.length, 'memory', 'memories')}`,
    ],
    notes: teller.events.flatMap((event) =>
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

/** Tool calls of the runs that are under way, for their receipts. */
export interface CallLog {
  note(sessionId: string, name: string, outcome: string): void;
  /** All of one run; they are forgotten with that. */
  take(sessionId: string): readonly { readonly name: string; readonly outcome: string }[];
}

export function createCallLog(): CallLog {
  const bySession = new Map<string, { name: string; outcome: string }[]>();
  return {
    note(sessionId, name, outcome) {
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), { name, outcome }]);
    },
    take(sessionId) {
      const calls = bySession.get(sessionId) ?? [];
      bySession.delete(sessionId);
      return calls;
    },
  };
}
