import { type Clock, idAt, type Logger, type RecordedUse, type SettledCall } from '@cinnabar/sdk';
import { cutText } from '../importing/result.js';
import type { HistoryStore } from './history.js';

interface Parts {
  readonly history: HistoryStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes down every call that is over. A disk that fails costs the record, not the call. */
export function createRecorder({ history, clock, log }: Parts) {
  return async function record(call: SettledCall): Promise<void> {
    try {
      await history.record(call.actor.channelId, recordOf(call, clock.now()));
    } catch (error) {
      log.error('a tool call could not be added to the history', { callId: call.id, tool: call.tool, error });
    }
  };
}

function recordOf({ id, tool, input, actor, messageId, outcome }: SettledCall, now: number): RecordedUse {
  return {
    call: {
      id,
      name: tool,
      input: asRecord(input),
      messageId: messageId ?? idAt(now),
      userId: actor.userId,
      ...(actor.identity === undefined ? {} : { identity: actor.identity }),
    },
    result:
      outcome.status === 'done'
        ? {
            callId: id,
            output: cutText(outcome.text),
            ...(outcome.sources === undefined ? {} : { sources: outcome.sources }),
            ...(outcome.audience === undefined ? {} : { audience: outcome.audience }),
          }
        : {
            callId: id,
            output: null,
            error: cutText(outcome.status === 'failed' ? outcome.error.message : outcome.reason),
          },
    timestamp: new Date(now).toISOString(),
  };
}

/** What was refused because it was no object is kept all the same. */
function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  return input === undefined ? {} : { given: String(input).slice(0, 4_000) };
}
