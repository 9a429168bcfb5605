import { createHash } from 'node:crypto';
import {
  type Actor,
  boundedText,
  type CallCard,
  type CallState,
  CinnabarError,
  type ErrorCode,
  type ErrorParams,
  isForOperators,
  type LedgerEntry,
  type Logger,
  type Place,
  type SettledOutcome,
  sentenceOf,
  type ToolCall,
  type ToolContent,
  type ToolInput,
  type ToolPolicy,
  type ToolProgress,
  type ToolSession,
  type ToolSource,
  type ToolStep,
  t,
  toolSource,
  translated,
  withReference,
} from '@cinnabar/sdk';
import canonicalize from 'canonicalize';
import type { z } from 'zod';

import type { CallLedger, RowDetails } from './ledger.js';
import type { AuditTrail } from './presentation.js';
import type { RegisteredTool } from './tools.js';

/** The parts of a call that are fixed when it is proposed. */
export interface Proposal {
  readonly id: string;
  readonly tool: RegisteredTool;
  readonly input: Arguments;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The place of the effect, if it is not that of the actor. */
  readonly at: Place | undefined;
  readonly origin: string;
  /** Other members whose messages led to the call. */
  readonly alongside: readonly Actor[];
  readonly reading: ToolCall['reading'];
  readonly session: ToolSession | undefined;
  readonly step: ToolStep | undefined;
  /** Idempotency key for the tool: the same in every attempt of one call. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly card: CallCard;
  readonly policy: ToolPolicy | undefined;
  readonly messageId: string | undefined;
  /** Maximum length of the result's text for the caller, in characters. */
  readonly mostCharacters: number;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** A running call in this process. The ledger has its state; this object has the data that exist only in memory. */
export interface LiveCall extends Proposal {
  readonly trail: AuditTrail;
  /** Whether its result is hidden from readers without access although no member has decided on the call. */
  keptPrivate: boolean;
  /** Resolves with the outcome, once it is in the ledger. */
  readonly ended: Promise<SettledOutcome>;
  /** Its row; `undefined` once it has ended. */
  row(): LedgerEntry | undefined;
  /** Compare and swap: `false` when the call was in none of the states `from`. @throws CINNABAR_STORAGE_WRITE */
  move(from: readonly CallState[], to: CallState, add?: RowDetails): Promise<boolean>;
  /** Compare and swap into the outcome's own state. @throws CINNABAR_STORAGE_WRITE */
  end(from: readonly CallState[], outcome: SettledOutcome, add?: RowDetails): Promise<boolean>;
  /**
   * Ends the call with `outcome` unless it runs or has ended, and resolves with its actual outcome. Never rejects: a call whose end cannot be written is
   * abandoned.
   */
  settle(outcome: SettledOutcome): Promise<SettledOutcome>;
  /** Ends a call when its end cannot be written: the row is not changed, and the next start resolves it. No further move of the call is possible. */
  abandon(outcome: SettledOutcome, error: unknown): Promise<SettledOutcome>;
}

/** States in which a call can still be refused. */
const NOT_RUN = ['proposed', 'pending', 'approved'] as const;
const LONGEST_STORED_TEXT = 4_000;

export function createLiveCall(proposal: Proposal, trail: AuditTrail, ledger: CallLedger, log: Logger): LiveCall {
  const { id } = proposal;
  let abandoned = false;
  let resolveEnded: (outcome: SettledOutcome) => void = () => undefined;
  const ended = new Promise<SettledOutcome>((resolve) => {
    resolveEnded = resolve;
  });
  const move: LiveCall['move'] = async (from, to, add) => {
    if (abandoned) return false;
    const moved = await ledger.move(id, from, to, add);
    // The call may have been abandoned while this move waited: its end has been announced, so the move must count as failed.
    return moved !== undefined && !abandoned;
  };
  const end: LiveCall['end'] = async (from, outcome, add) => {
    const moved = await move(from, stateOf(outcome), { ...add, ...detailsOf(outcome) });
    if (moved) resolveEnded(outcome);
    return moved;
  };

  const abandon: LiveCall['abandon'] = (outcome, error) => {
    log.error('how a call ended could not be saved', { callId: id, outcome: outcome.status, error });
    abandoned = true;
    resolveEnded(outcome);
    return ended;
  };

  return {
    ...proposal,
    trail,
    keptPrivate: false,
    ended,
    row: () => (abandoned ? undefined : ledger.running(id)),
    move,
    end,
    abandon,
    async settle(outcome) {
      try {
        await end(NOT_RUN, outcome);
        return await ended;
      } catch (error) {
        return abandon(outcome, error);
      }
    },
  };
}

/** The ledger's state for an outcome: `unknown` for a call that may have taken effect, since its process was lost while it ran. */
const stateOf = (outcome: SettledOutcome): CallState =>
  outcome.status === 'failed' && outcome.error.code === ('CINNABAR_TOOL_UNKNOWN_OUTCOME' satisfies ErrorCode)
    ? 'unknown'
    : outcome.status;

function detailsOf(outcome: SettledOutcome): RowDetails {
  if (outcome.status === 'done') {
    const { text, sources, audience } = outcome;
    return {
      text: text.slice(0, LONGEST_STORED_TEXT),
      ...(sources === undefined ? {} : { sources }),
      ...(audience === undefined ? {} : { audience }),
    };
  }
  return { reason: reasonOf(outcome).slice(0, LONGEST_STORED_TEXT) };
}

/** The text of a successful result: in the tool's own words, otherwise its output as compact JSON. */
export function doneOutcome(
  { definition, owner, info }: RegisteredTool,
  call: Pick<LiveCall, 'id' | 'actor' | 'at' | 'input'>,
  output: unknown,
): SettledOutcome {
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
      // Without sources, the result is never shown to anyone later.
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

  /** Logs an error in the tool's wording. Not an error of the call, since the tool has run. */
  function warn(error: unknown): void {
    owner.log.warn('the wording of a tool result failed', { tool: info.name, callId: call.id, error });
  }
}

/** An outcome for a caller: all texts of one result together are limited to the caller's maximum. */
export function withinBound(outcome: SettledOutcome, most: number): SettledOutcome {
  switch (outcome.status) {
    case 'failed':
      return { ...outcome, error: { ...outcome.error, message: boundedText(outcome.error.message, most) } };
    case 'done':
      if (outcome.content === undefined && outcome.text.length <= most) return outcome;
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
    // A text that does not fit is cut, or left out if too little space is left for its beginning and the note that it was cut.
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

/** The least space for a part of a text, with the note that it was cut. */
const LEAST_SHOWN = 200;

function asText(output: unknown): string {
  if (typeof output === 'string') return output;
  try {
    return JSON.stringify(output) ?? t('Done.');
  } catch {
    return t('Done.');
  }
}

/** The outcome of a tool that has thrown. Members and models read the part that is meant for them; the reason is in the log, under the call's id. */
export function thrownOutcome(callId: string, tool: string, error: unknown, log: Logger): SettledOutcome {
  const code = error instanceof CinnabarError ? error.code : 'CINNABAR_TOOL_FAILED';
  if (isForOperators(error)) log.error('a tool failed', { tool, callId, error });
  const unknown = t('The tool {tool} failed: something went wrong inside.', { tool });
  // A request that fails before it becomes a call has no id.
  const message =
    callId === ''
      ? (sentenceOf(error) ?? t('{sentence} It is in the log.', { sentence: unknown }))
      : (sentenceOf(error, callId) ?? withReference(unknown, callId));
  return failedWith(callId, { code, message });
}

type Refused = Exclude<SettledOutcome, { status: 'done' }>;

/** A failure from the table of coded errors. */
export function failed(callId: string, code: ErrorCode, params: ErrorParams): Refused {
  const message = sentenceOf(new CinnabarError(code, params)) ?? t('Something went wrong inside.');
  return failedWith(callId, { code, message });
}

function failedWith(callId: string, { code, message }: { code: string; message: string }): Refused {
  return { status: 'failed', callId, error: { code, message } };
}

export function denied(callId: string, tool: string, reasons: string): Refused {
  const error = new CinnabarError('CINNABAR_TOOL_DENIED', { tool, reasons });
  return { status: 'denied', callId, reason: sentenceOf(error) ?? error.message };
}

/** The reason why a call was not done, for the ledger and the audit. */
function reasonOf(outcome: Refused): string {
  return outcome.status === 'failed' ? outcome.error.message : outcome.reason;
}

/** The outcome of a call of an earlier process, from its row, with the stored part of its output's text. */
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
      // A start writes its reason in English, without a reader; other reasons are in their reader's language already.
      return { status: state, callId: id, reason: translated(reason) };
    case 'unknown':
      return failed(id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool });
    default:
      // A call that has not ended, and that is not in this process's memory, belongs to another process.
      return failed(id, 'CINNABAR_TOOL_STATE', { call: id, state });
  }
}

export type Arguments = Readonly<Record<string, unknown>>;

type ReadArguments =
  | { readonly ok: true; readonly input: Arguments; readonly hash: string }
  /** `detail` names the argument, for people and models. */
  | { readonly ok: false; readonly detail: string };

const NO_ARGUMENTS: Arguments = {};

/**
 * Parses a model's arguments: an object, or a string that contains one as JSON. The result is frozen and hashed: the tool gets exactly this. Schemas of
 * external servers are checked in a worker, since they may take long.
 */
export async function readArguments(schema: ToolInput, given: unknown): Promise<ReadArguments> {
  const plain = asPlainObject(given);
  if (plain === undefined) return { ok: false, detail: t('they must be one JSON object') };
  const parsed = await schema.safeParseAsync(plain);
  if (!parsed.success) return { ok: false, detail: describeIssues(parsed.error) };
  // Copied before it is frozen, since a default in a schema may be a shared object.
  const input = deepFreeze(structuredClone(parsed.data));
  return { ok: true, input, hash: hashOf(input) };
}

/** SHA-256 of the canonical JSON (RFC 8785), hex: the same for equal arguments in any order. */
function hashOf(input: Arguments): string {
  return createHash('sha256')
    .update(canonicalize(input) ?? '')
    .digest('hex');
}

/** The arguments after a round trip through JSON, so that no getter, prototype or `toJSON` of a caller's object reaches a tool. */
function asPlainObject(given: unknown): Arguments | undefined {
  if (given === undefined || given === null || given === '') return NO_ARGUMENTS;
  try {
    const value: unknown = JSON.parse(typeof given === 'string' ? given : JSON.stringify(given));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.map(String).join('.') || 'input'}: ${issue.message}`).join('; ');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
