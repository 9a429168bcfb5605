import {
  FOR_REQUESTER_ALONE,
  type LedgerEntry,
  type Outcome,
  type PersonaTrigger,
  type SettledOutcome,
  type Tools,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { RunParts } from '../context.js';
import { channelVoice } from '../running/message-sender.js';
import { runPersona } from '../running/run.js';
import { defineAction, type TurnRun } from './action.js';

export interface UseToolParts {
  readonly tools: Tools;
  /** A call has to wait; resolves when that has been noted. */
  onHeld(run: TurnRun, tool: string, callId: string): Promise<void>;
  /** A call that had to wait has ended. */
  onSettled(run: TurnRun, tool: string, outcome: SettledOutcome): void;
  /** Each call is told of in the receipt. */
  onCall(run: TurnRun, tool: string, outcome: Outcome['status']): void;
}

/** Acts for the member who asked, through everything that guards the host's tools. */
export const useTool = ({ tools, onHeld, onSettled, onCall }: UseToolParts) =>
  defineAction({
    name: 'USE_TOOL',
    description: 'Use one of the tools listed below for the member who asked, with their rights',
    contextNeeded: 'Which tool, for what, and the arguments as far as they were said',
    result: z.object({
      tool: z.string().min(1).max(64).describe('Name of the tool'),
      arguments: z.record(z.string(), z.unknown()).describe('Arguments that fit its parameters'),
    }),
    revealing: true,
    quotes: true,
    isOffered: ({ tools: offered }) => offered.length > 0,
    async execute({ tool, arguments: given }, run) {
      const { actor, trigger, signal } = run;
      if (actor === undefined || !run.tools.some(({ name }) => name === tool)) {
        throw new UserError(`There is no tool called "${tool}" for what is being answered.`);
      }
      const outcome = await whileRunning(signal, (during) =>
        tools.invoke({
          name: tool,
          arguments: given,
          actor,
          signal: during,
          origin: 'persona',
          ...messageOf(trigger),
        }),
      );
      onCall(run, tool, outcome.status);
      if (outcome.status !== 'deferred') return `${tool}: ${settledText(outcome)}`;
      await onHeld(run, tool, outcome.callId);
      void outcome.settled.then((settled) => onSettled(run, tool, settled));
      return `${tool}: ${outcome.note}`;
    },
  });

function messageOf(trigger: PersonaTrigger): { messageId?: string } {
  return trigger.type === 'user_input' && trigger.messageId !== null ? { messageId: trigger.messageId } : {};
}

/** The run's end ends a call that is under way, but none that waits for somebody: that may take longer than any run. */
async function whileRunning<T>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await task(controller.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Notes in the conversation that a call has to wait: later runs see how it stands. */
export async function noteHeld(
  run: TurnRun,
  tool: string,
  callId: string,
  { conversations, clock }: Pick<RunParts, 'conversations' | 'clock'>,
): Promise<void> {
  const line = { messageIds: [], userId: null, displayName: '', username: '', text: tool, at: clock.now(), callId };
  await conversations.add(run.place.channelId, [line]);
}

/**
 * A call that had to wait has run, or failed: the persona may have something to say to whoever asked. It gets no tools for that: what a tool says
 * must not lead to another call. A call that was cancelled, or that nobody decided on, is left at that.
 */
export async function resume(
  { trigger, place, actor, completed }: TurnRun,
  tool: string,
  outcome: SettledOutcome,
  parts: RunParts,
): Promise<void> {
  if (outcome.status !== 'done' && outcome.status !== 'failed') return;
  if (parts.signal.aborted || !parts.plugins.enabledIn(place.guildId, 'persona')) return;
  if (trigger.type !== 'user_input' && trigger.type !== 'tool_result') return;
  const channel = parts.client.channels.cache.get(place.channelId);
  if (channel?.isSendable() !== true || !(await parts.settingsFor(place.guildId)).toolResults) return;
  try {
    await runPersona(
      {
        trigger: toolResult(trigger, tool, outcome, parts.clock.now()),
        channel,
        guildId: place.guildId,
        actor,
        tools: [],
        voice: channelVoice(channel, { ...parts, replyTo: trigger.messageId ?? undefined }),
        message: null,
        before: completed,
        signal: parts.signal,
      },
      parts,
    );
  } catch (error) {
    parts.log.info('a persona could not think about a tool result', { ...place, tool, error });
  }
}

type Asked = Extract<PersonaTrigger, { type: 'user_input' | 'tool_result' }>;

/** A call that had to wait has ended: what the one who asked for it may want to hear of. */
export function toolResult(asked: Asked, tool: string, outcome: SettledOutcome, at: number): PersonaTrigger {
  const { callId, status } = outcome;
  const { speaker, messageId } = asked;
  return { type: 'tool_result', content: settledText(outcome), at, speaker, tool, callId, status, messageId };
}

/** How a call ended, in words. */
export function settledText(outcome: SettledOutcome): string {
  switch (outcome.status) {
    case 'done':
      return outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : `It ran: ${outcome.text}`;
    case 'failed':
      return `It failed: ${outcome.error.message}`;
    default:
      return `It did not run: ${outcome.reason}`;
  }
}

/**
 * How a call stands that had to wait, by the host's ledger.
 * @param mayShow whether what came from there may be shown to who is answered now
 */
export async function outcomeText(
  entry: LedgerEntry | undefined,
  mayShow: (sources: LedgerEntry['sources']) => Promise<boolean>,
): Promise<string> {
  const because = entry?.reason === undefined ? '' : ` (${entry.reason})`;
  switch (entry?.state) {
    case 'proposed':
    case 'pending':
      return 'not run yet: it waits for the confirmation of the member who asked';
    case 'approved':
    case 'executing':
      return 'confirmed, and running now: there is no result yet';
    case 'done':
      if (entry.audience === 'requester') return FOR_REQUESTER_ALONE;
      return (await mayShow(entry.sources)) ? `ran: ${entry.text ?? 'done'}` : 'ran; its result is not for here';
    case 'denied':
    case 'expired':
      return `did not run${because}`;
    case 'failed':
      return `failed${because}`;
    default:
      return 'nobody knows whether it ran';
  }
}
