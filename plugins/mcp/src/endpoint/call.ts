import {
  type Clock,
  type DeferredOutcome,
  type Outcome,
  type SettledOutcome,
  type ToolContent,
  type ToolProgress,
  type Tools,
  withinLimit,
} from '@cinnabar/sdk';
import { type CallToolResult, ErrorCode, McpError, type ProgressToken } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../tokens/tokens.js';

interface CallContext {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly caller: Caller;
  /** Maximum wait for the decision on a held call. */
  readonly waitMs: number;
  /** Maximum length of the text of a result. */
  readonly mostCharacters: number;
  readonly signal: AbortSignal;
  readonly progress: ProgressReporter;
}

const BEAT_MS = 10_000;

/**
 * Calls one of the host's tools as the token's actor, through the same checks as every other call.
 * @throws McpError when there is no such tool for this token
 */
export async function callHostTool(name: string, input: unknown, parts: CallContext): Promise<CallToolResult> {
  const { tools, caller, signal, progress } = parts;
  const actor = await caller.actor();
  if (actor === undefined || !mayUse(caller, name)) throw unknownTool(name);
  const beating = beat(parts.clock, () => progress.beat('still at it'));
  try {
    const outcome = await tools.invoke({
      name,
      arguments: input ?? {},
      actor,
      signal,
      origin: 'mcp',
      mostCharacters: parts.mostCharacters,
      onProgress: progress.report,
    });
    if (outcome.status !== 'deferred') return resultOf(outcome, name);
    return resultOf(await settledWithin(outcome, parts), name);
  } finally {
    beating();
  }
}

/** Whether the token allows the tool. The host decides about the actor's access. */
export function mayUse({ tools }: Caller, name: string): boolean {
  return tools.length === 0 || tools.includes(name);
}

/** The outcome of the call, or that it is still pending when the time is up or the client has disconnected. */
async function settledWithin(outcome: DeferredOutcome, { clock, waitMs, signal }: CallContext): Promise<Outcome> {
  const end = await withinLimit(clock, waitMs, outcome.settled, signal);
  return end.inTime ? end.value : outcome;
}

function beat(clock: Clock, task: () => void): () => void {
  let cancel: () => void;
  const next = () => {
    cancel = clock.after(BEAT_MS, () => {
      task();
      next();
    });
  };
  next();
  return () => cancel();
}

function resultOf(outcome: Outcome, name: string): CallToolResult {
  switch (outcome.status) {
    case 'done':
      return { content: (outcome.content ?? [{ type: 'text', text: outcome.text }]).map(toBlock) };
    case 'deferred':
      return textResult(`Not run yet: ${outcome.note} Do not say that it has run.`);
    case 'failed':
      if (outcome.error.code === 'CINNABAR_TOOL_UNKNOWN') throw unknownTool(name);
      return { ...textResult(outcome.error.message), isError: true };
    default:
      return { ...textResult(reasonOf(outcome)), isError: true };
  }
}

function reasonOf(outcome: Extract<SettledOutcome, { reason: string }>): string {
  return outcome.status === 'denied' ? outcome.reason : `It was not run: ${outcome.reason}`;
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function toBlock(content: ToolContent): CallToolResult['content'][number] {
  if (content.type !== 'resource') return { ...content };
  const { uri, mimeType, text, blob } = content.resource;
  const kind = mimeType === undefined ? {} : { mimeType };
  const resource = blob === undefined ? { uri, ...kind, text: text ?? '' } : { uri, ...kind, blob };
  return { type: 'resource', resource };
}

function unknownTool(name: string): McpError {
  return new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
}

type Send = (notification: {
  method: 'notifications/progress';
  params: { progressToken: ProgressToken; progress: number; total?: number; message?: string };
}) => Promise<void>;

interface ProgressReporter {
  /** Forwards the tool's progress. */
  report(progress: ToolProgress): void;
  /** Sends a heartbeat when there is no other progress, so that the client does not time out. */
  beat(message: string): void;
}

const SILENT: ProgressReporter = { report: () => undefined, beat: () => undefined };

/**
 * Reports the progress of a call to a client that requested it. The numbers must increase:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
 */
export function createProgressReporter(progressToken: ProgressToken | undefined, send: Send): ProgressReporter {
  if (progressToken === undefined) return SILENT;
  let beats = 0;
  let last = -1;
  const tell = (progress: number, more: { total?: number; message?: string }) => {
    if (progress <= last) return;
    last = progress;
    // The client may have disconnected.
    void send({ method: 'notifications/progress', params: { progressToken, progress, ...more } }).catch(
      () => undefined,
    );
  };
  return {
    // The tool's progress is added to the number of heartbeats, so that the sum increases.
    report: ({ progress, total, message }) =>
      tell(beats + progress, {
        ...(total === undefined ? {} : { total: beats + total }),
        ...(message === undefined ? {} : { message }),
      }),
    beat(message) {
      beats += 1;
      tell(Math.max(beats, last + 1), { message });
    },
  };
}
