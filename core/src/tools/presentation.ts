import {
  type Actor,
  type CallCard,
  type DecisionReason,
  type Place,
  type SettledOutcome,
  type ToolDefinition,
  type ToolInfo,
  type ToolPolicy,
  type ToolRequest,
  t,
  translated,
} from '@cinnabar/sdk';
import { isSecretName, REDACTED } from '../observability/log-entry.js';
import type { Arguments } from './call.js';
import type { ToolDependencies } from './tools.js';

/**
 * Renders a call for its card, in the tool's own words if it has any. These cannot hide an argument: an argument counts as mentioned only when the sentence
 * contains its value.
 */
export async function renderCard(
  { name, plugin, inputSchema }: ToolInfo,
  { present }: ToolDefinition,
  given: Arguments,
  actor: Actor,
  redact: (text: string) => string,
): Promise<CallCard> {
  const shown = shownArguments(given, redact);
  const described = await attempt(() => present?.describe?.(shown, { actor }));
  const input = { ...described?.assumed, ...shown };
  const own = described?.sentence ?? (await attempt(() => present?.sentence?.(shown)));
  const action = described?.action ?? translated(present?.action ?? capitalised(words(name).join(' ')));
  const inSentence: readonly string[] = described?.said ?? present?.said ?? [];
  const said = (argument: string) => own !== undefined && inSentence.includes(argument) && shows(own, input[argument]);
  return {
    sentence: own ?? t('I\'ll use "{tool}"', { tool: words(name).join(' ') }),
    action,
    terminal: present?.terminal ?? {
      program: plugin.toUpperCase(),
      operation: name.toUpperCase(),
      record: 'ARGUMENTS',
    },
    fields: inDeclaredOrder(inputSchema, input).map((argument) => ({
      name: argument,
      label: translated(present?.labels?.[argument] ?? labelOf(argument)),
      value: input[argument],
      said: said(argument),
    })),
    arguments: input,
    cancelled:
      described?.cancelled ?? (await attempt(() => present?.cancelled?.(shown))) ?? t('Cancelled: nothing was done.'),
  };
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function shows(sentence: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return value !== '' && sentence.includes(String(value));
}

function inDeclaredOrder({ properties }: ToolInfo['inputSchema'], input: Arguments): readonly string[] {
  const declared = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [...new Set([...declared, ...Object.keys(input)])].filter((name) => Object.hasOwn(input, name));
}

/** Calls a tool's own wording, and leaves it out when it throws: the card must be shown, with every argument in it. */
async function attempt<T>(render: () => T | Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await render();
  } catch {
    return undefined;
  }
}

/** `gear_preferences` and `lootDescription` as labels: "Gear Preferences", "Loot Description". */
function labelOf(name: string): string {
  return words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}

/** `add_party_character` as words: "add party character". */
function words(name: string): readonly string[] {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
}

/** The record of every call, also of one that was refused before it reached the ledger. A type alias, so that it fits a log entry's fields. */
export type AuditEntry = AuditFacts & {
  readonly callId: string;
  readonly tool: string;
  readonly origin: string;
  readonly actor: Actor;
  /** The requested arguments: JSON, secrets redacted, cut at 2,000 characters. */
  readonly input: string;
  readonly outcome: SettledOutcome['status'];
  /** The error's code. */
  readonly code?: string;
  /** The reason why the call was not done. */
  readonly reason?: string;
  readonly startedAt: number;
  /** From the request to the outcome, including the wait for a decision. */
  readonly latencyMs: number;
};

/** Fields that become known during the call. */
type AuditFacts = {
  /** Absent when there is no such tool. */
  readonly plugin?: string;
  readonly argumentsHash?: string;
  /** The place of the effect, if it is not that of the request. */
  readonly at?: Place;
  /** The actor there: an agent acts for the user who granted it access. */
  readonly actor?: Actor;
  readonly policy?: ToolPolicy | undefined;
  /** Why access was granted or denied: the last decision. */
  readonly access?: readonly DecisionReason[];
  /** The interceptor that held the call for a decision. */
  readonly heldBy?: string;
  readonly decidedBy?: string;
  /** How long the tool itself ran. */
  readonly ranMs?: number;
};

/** The audit record of a call that has not ended yet. */
export interface AuditTrail {
  note(facts: AuditFacts): void;
  close(outcome: SettledOutcome): void;
}

export function createAuditor({
  clock,
  log,
  redact,
  audit,
}: Pick<ToolDependencies, 'clock' | 'log' | 'redact' | 'audit'>) {
  return function begin(callId: string, request: ToolRequest): AuditTrail {
    const startedAt = clock.now();
    let facts: AuditFacts = {};
    return {
      note(more) {
        facts = { ...facts, ...more };
      },
      close(outcome) {
        try {
          audit({
            callId,
            tool: request.name,
            origin: request.origin,
            actor: request.actor,
            input: inputForLog(request.arguments, redact),
            ...facts,
            ...endingOf(outcome, redact),
            startedAt,
            latencyMs: clock.now() - startedAt,
          });
        } catch (error) {
          log.error('a call could not be written to the audit', { callId, error });
        }
      },
    };
  };
}

function endingOf(outcome: SettledOutcome, redact: ToolDependencies['redact']) {
  if (outcome.status === 'done') return { outcome: outcome.status };
  if (outcome.status !== 'failed') return { outcome: outcome.status, reason: redact(outcome.reason) };
  return { outcome: outcome.status, code: outcome.error.code, reason: redact(outcome.error.message) };
}

const LONGEST_INPUT = 2_000;

/** The arguments for the audit. Redacted before they are cut, so that no part of a secret is left. */
function inputForLog(input: unknown, redact: ToolDependencies['redact']): string {
  const text = redact(typeof input === 'string' ? input : asJson(shownInput(input, redact)));
  return text.length <= LONGEST_INPUT ? text : `${text.slice(0, LONGEST_INPUT)}… (${text.length} characters)`;
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'none';
  } catch {
    return '(not JSON)';
  }
}

/** Arguments for display and storage: secrets are removed by the name of their field, by their form, and when they are registered with the host. */
export function shownArguments(input: Arguments, redact: (text: string) => string): Arguments {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shown(name, value, redact)]));
}

/** Like `shownArguments`, for a caller's value of any type. */
export function shownInput(input: unknown, redact: (text: string) => string): unknown {
  return shown('', input, redact);
}

function shown(name: string, value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return value !== '' && isSecretName(name) ? REDACTED : redact(value);
  if (Array.isArray(value)) return value.map((item) => shown(name, item, redact));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(key, inner, redact)]));
  }
  return value;
}
