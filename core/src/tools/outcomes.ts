import {
  boundedText,
  CinnabarError,
  type ErrorCode,
  type ErrorParams,
  isForOperators,
  type LedgerEntry,
  type Logger,
  type SettledOutcome,
  sentenceOf,
  type ToolContent,
  type ToolSource,
  toolSource,
  withReference,
} from '@cinnabar/sdk';
import type { LiveCall } from './call.js';
import type { RegisteredTool } from './registry.js';

/** What came of a run that returned: in the tool's own words, else its output as compact JSON. */
export function doneOutcome({ definition, owner }: RegisteredTool, call: LiveCall, output: unknown): SettledOutcome {
  const content = contentOf();
  const sources = sourcesOf();
  return {
    status: 'done',
    callId: call.id,
    output,
    text: textOf(),
    ...(content === undefined ? {} : { content }),
    ...(sources === undefined ? {} : { sources }),
  };

  function sourcesOf(): readonly ToolSource[] | undefined {
    const { guildId, channelId } = call.actor;
    try {
      const own = definition.sources?.(output, call.input);
      const read = own ?? (call.at === undefined ? [{ guildId, channelId }] : []);
      return (call.at === undefined ? read : [call.at, ...read]).map((source) => toolSource.parse(source));
    } catch (error) {
      warn(error);
      // A result whose sources are not known is shown to no one later.
      return undefined;
    }
  }

  function textOf(): string {
    try {
      return definition.present?.success?.(call.input, output) ?? asText(output);
    } catch (error) {
      warn(error);
      return asText(output);
    }
  }

  function contentOf(): readonly ToolContent[] | undefined {
    try {
      return definition.present?.content?.(call.input, output);
    } catch (error) {
      warn(error);
      return undefined;
    }
  }

  /** It has run: wording that fails must not make it look as if it had not. */
  function warn(error: unknown): void {
    owner.log.warn('the wording of a tool result failed', { tool: call.tool.info.name, callId: call.id, error });
  }
}

/** What a caller gets of an outcome: no text in it is longer than it takes, all texts of one result together. */
export function withinBound(outcome: SettledOutcome, most: number): SettledOutcome {
  switch (outcome.status) {
    case 'failed':
      return { ...outcome, error: { ...outcome.error, message: boundedText(outcome.error.message, most) } };
    case 'done':
      return {
        ...outcome,
        text: boundedText(outcome.text, most),
        ...(outcome.content === undefined ? {} : { content: boundedContent(outcome.content, most) }),
      };
    default:
      return { ...outcome, reason: boundedText(outcome.reason, most) };
  }
}

function boundedContent(content: readonly ToolContent[], most: number): readonly ToolContent[] {
  let left = most;
  const bounded = (text: string) => {
    // What comes after a text that was cut is as good as its end.
    const kept = left >= Math.min(text.length, LEAST_SHOWN) ? boundedText(text, left) : '';
    left -= text.length;
    return kept;
  };
  return content.flatMap((block): ToolContent[] => {
    if (block.type === 'text') {
      const text = bounded(block.text);
      return text === '' && block.text !== '' ? [] : [{ ...block, text }];
    }
    if (block.type !== 'resource' || block.resource.text === undefined) return [block];
    return [{ ...block, resource: { ...block.resource, text: bounded(block.resource.text) } }];
  });
}

/** The note that a text was cut needs so much. */
const LEAST_SHOWN = 200;

function asText(output: unknown): string {
  if (typeof output === 'string') return output;
  try {
    return JSON.stringify(output) ?? 'Done.';
  } catch {
    return 'Done.';
  }
}

/** What came of work that threw. Members and models read what is meant for them; the reason is in the log, under the call's id. */
export function thrownOutcome(callId: string, tool: string, error: unknown, log: Logger): SettledOutcome {
  const code = error instanceof CinnabarError ? error.code : 'CINNABAR_TOOL_FAILED';
  if (isForOperators(error)) log.error('a tool failed', { tool, callId, error });
  const unknown = `The tool ${tool} failed: something went wrong inside.`;
  // What fails before it is a call has no id.
  const message =
    callId === ''
      ? (sentenceOf(error) ?? `${unknown} It is in the log.`)
      : (sentenceOf(error, callId) ?? withReference(unknown, callId));
  return failedWith(callId, { code, message });
}

type Refused = Exclude<SettledOutcome, { status: 'done' }>;

/** A failure from the table of coded errors. */
export function failed(callId: string, code: ErrorCode, params: ErrorParams): Refused {
  const message = sentenceOf(new CinnabarError(code, params)) ?? 'Something went wrong inside.';
  return failedWith(callId, { code, message });
}

export function failedWith(callId: string, { code, message }: { code: string; message: string }): Refused {
  return { status: 'failed', callId, error: { code, message } };
}

export function denied(callId: string, tool: string, reasons: string): Refused {
  const error = new CinnabarError('CINNABAR_TOOL_DENIED', { tool, reasons });
  return { status: 'denied', callId, reason: sentenceOf(error) ?? error.message };
}

/** Why it was not done, for the ledger and the audit. */
export function reasonOf(outcome: Refused): string {
  return outcome.status === 'failed' ? outcome.error.message : outcome.reason;
}

/** How a call of an earlier process ended, from its row: of an output only what was kept of its text. */
export function outcomeOf({ id, tool, state, reason = '', text = '', sources, audience }: LedgerEntry): SettledOutcome {
  switch (state) {
    case 'done':
      return {
        status: 'done',
        callId: id,
        output: text,
        text,
        ...(sources === undefined ? {} : { sources }),
        ...(audience === undefined ? {} : { audience }),
      };
    case 'failed':
      return failedWith(id, { code: 'CINNABAR_TOOL_FAILED', message: reason });
    case 'denied':
    case 'expired':
      return { status: state, callId: id, reason };
    case 'unknown':
      return failed(id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool });
    default:
      // Under way, yet not in this process's memory: another one has it.
      return failed(id, 'CINNABAR_TOOL_STATE', { call: id, state });
  }
}
