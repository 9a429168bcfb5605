import { FOR_REQUESTER_ALONE, type PersonaTrigger, type SettledOutcome, UserError, z } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import { post } from '../running/message-sender.js';
import { runPersona } from '../running/run.js';
import { defineAction, type TurnRun } from './action.js';

/**
 * Acts for the member who asked, through everything that guards the host's tools.
 * @param persona called when a call is made: the registry of actions is a part of the context
 */
export const useTool = (persona: () => PersonaContext) =>
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
      const { actor, trigger } = run;
      if (actor === undefined || !run.tools.some(({ name }) => name === tool)) {
        throw new UserError(`There is no tool called "${tool}" for what is being answered.`);
      }
      const { tools, background } = persona();
      const outcome = await untilAborted(run.signal, (signal) =>
        tools.invoke({ name: tool, arguments: given, actor, signal, origin: 'persona', ...messageOf(trigger) }),
      );
      run.noteCall(tool, outcome.status);
      if (outcome.status !== 'deferred') return `${tool}: ${settledText(outcome)}`;
      await noteDeferred(run, tool, outcome.callId, persona());
      void outcome.settled.then((settled) =>
        background.run('thinking about the end of a call', () => resume(run, tool, settled, persona())),
      );
      return `${tool}: ${outcome.note}`;
    },
  });

function messageOf(trigger: PersonaTrigger): { messageId?: string } {
  return trigger.type === 'user_input' && trigger.messageId !== null ? { messageId: trigger.messageId } : {};
}

/** The run's end ends a call that is running, but none that waits for a member: that may take longer than any run. */
async function untilAborted<T>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
async function noteDeferred(
  run: TurnRun,
  tool: string,
  callId: string,
  { conversations, clock }: PersonaContext,
): Promise<void> {
  const line = { messageIds: [], userId: null, displayName: '', username: '', text: tool, at: clock.now(), callId };
  await conversations.add(run.place.channelId, [line]);
}

/**
 * A call that had to wait has run, or failed: the persona may have something to say to the member who asked. It gets no tools for that: what a tool
 * says must not lead to another call. Nothing follows from a call that was cancelled or expired.
 */
async function resume(
  { trigger, place, actor, completed }: TurnRun,
  tool: string,
  outcome: SettledOutcome,
  persona: PersonaContext,
): Promise<void> {
  if (outcome.status !== 'done' && outcome.status !== 'failed') return;
  if (persona.signal.aborted || !persona.plugins.enabledIn(place.guildId, 'persona')) return;
  if (trigger.type !== 'user_input' && trigger.type !== 'tool_result') return;
  const channel = persona.client.channels.cache.get(place.channelId);
  if (channel?.isSendable() !== true || !(await persona.settingsFor(place.guildId)).toolResults) return;
  try {
    await runPersona(
      {
        trigger: toolResult(trigger, tool, outcome, persona.clock.now()),
        channel,
        guildId: place.guildId,
        actor,
        tools: [],
        send: post(channel, persona, { replyTo: trigger.messageId ?? undefined }),
        message: null,
        before: completed,
        signal: persona.signal,
      },
      persona,
    );
  } catch (error) {
    persona.log.info('a persona could not think about a tool result', { ...place, tool, error });
  }
}

type Asked = Extract<PersonaTrigger, { type: 'user_input' | 'tool_result' }>;

/** The trigger for a call that had to wait and has ended. */
function toolResult(asked: Asked, tool: string, outcome: SettledOutcome, at: number): PersonaTrigger {
  const { callId, status } = outcome;
  const { speaker, messageId } = asked;
  return { type: 'tool_result', content: settledText(outcome), at, speaker, tool, callId, status, messageId };
}

/** How a call ended, in words. */
function settledText(outcome: SettledOutcome): string {
  switch (outcome.status) {
    case 'done':
      return outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : `It ran: ${outcome.text}`;
    case 'failed':
      return `It failed: ${outcome.error.message}`;
    default:
      return `It did not run: ${outcome.reason}`;
  }
}
