import type { SettledOutcome } from '@cinnabar/sdk';
import type { TurnRun } from '../actions/action.js';
import { freeVoice } from '../speaking/voice.js';
import { toolResult } from '../triggers/tool-result.js';
import type { RunParts } from './parts.js';
import { runPersona } from './run.js';

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
        voice: freeVoice(channel, parts.random, trigger.messageId ?? undefined),
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
