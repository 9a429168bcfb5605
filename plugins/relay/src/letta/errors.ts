import { t, z } from '@cinnabar/sdk';

/** Kinds of errors of an agent server. */
type TroubleKind =
  | 'unauthorised'
  | 'unknown-agent'
  | 'refused'
  /** The agent waits for an approval, and accepts no other message. */
  | 'pending-approval'
  /** A decision about a call that does not wait for one. */
  | 'nothing-pending'
  /** The agent is busy. */
  | 'busy'
  /** The server does not support background runs. */
  | 'no-background'
  /** The server has no conversation routes. */
  | 'no-conversations'
  | 'rate-limited'
  | 'server-error'
  | 'unreachable'
  /** The run ended with an error. */
  | 'run-error';

interface Trouble {
  readonly kind: TroubleKind;
  /** Whether the same request may be tried again. */
  readonly retry: boolean;
  readonly retryAfterMs?: number;
  /** The problem for people. */
  readonly sentence: string;
  /** The run that the agent is busy with, if the server reports it. */
  readonly runId?: string;
}

/** Classifies a client's error by its shape, without loading the library. */
export function troubleOf(error: unknown): Trouble {
  const { status, body, headers } = partsOf(error);
  const retryAfterMs = retryAfterMsOf(headers);
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  const text = JSON.stringify(body ?? null);
  if (status === undefined) return body === undefined ? UNREACHABLE : runTrouble(body);
  if (status === 401 || status === 403) return UNAUTHORISED;
  if (status === 404 || status === 405)
    return /"detail":"(Not Found|Method)/.test(text) ? NO_CONVERSATIONS : UNKNOWN_AGENT;
  if (status === 409) return WAITS.test(text) ? PENDING : { ...BUSY, ...patience, ...holderIn(body) };
  if (status === 400 && NOTHING_WAITS.test(text)) return NOTHING_PENDING;
  if (status === 429) return { ...RATE_LIMITED, ...patience };
  if (status === 503 && /background.+redis/i.test(text)) return NO_BACKGROUND;
  return mayPass(status) ? { ...SERVER_ERROR, ...patience } : REFUSED;
}

function mayPass(status: number): boolean {
  return status === 408 || status === 425 || status >= 500;
}

/** Whether the error is a run's own: reported in the stream, or stored with the run. */
export function isRunError(error: unknown): boolean {
  const { status, body } = partsOf(error);
  return status === undefined && body !== undefined;
}

/** The error of a run that a stream would have thrown. */
export class RunFailed extends Error {
  constructor(
    runId: string | undefined,
    /** The error that the server stores with the run, otherwise its stop reason. */
    readonly error: unknown,
  ) {
    super(`the run ${runId} failed`);
  }
}

/** Whether a stop reason means failure. Servers may report no other error. */
export function isFailure(stopReason: string): boolean {
  return FAILURES.has(stopReason);
}

const FAILURES: ReadonlySet<string> = new Set([
  'error',
  'llm_api_error',
  'invalid_llm_response',
  'invalid_tool_call',
  'no_tool_call',
  'max_tokens_exceeded',
  'insufficient_credits',
  'context_window_overflow_in_system_prompt',
]);

/** Whether nothing listens at the server's address. The server may have stopped, or only its proxy. */
export function isConnectionRefused(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && cause.code === 'ECONNREFUSED') return true;
  }
  return false;
}

/** A sentence for people about a run that failed after the agent had acted. */
export function stoppedBy(error: unknown): string {
  const { kind, sentence } = troubleOf(error);
  const stopped = t('The agent stopped in the middle of its work.');
  // Except for `RUN_ERROR`, these sentences are about the agent's model.
  return kind === 'run-error' && sentence !== RUN_ERROR.sentence ? `${stopped} ${sentence}` : stopped;
}

const WAITS = /PENDING_APPROVAL|waiting for approval/i;
const NOTHING_WAITS = /no tool call is currently awaiting approval|invalid tool call ids/i;

const runErrorBody = z.object({
  error_type: z.string().nullish(),
  message: z.string().nullish(),
  detail: z.string().nullish(),
});

/** Classifies a run's error by its type, or by the code at the start of its message or detail. The first match counts. */
function runTrouble(body: unknown): Trouble {
  const { error_type: type, message, detail } = runErrorBody.safeParse(body).data ?? {};
  const text = `${type ?? ''} ${message ?? ''} ${detail ?? ''}`;
  return RUN_TROUBLES.find(([pattern]) => pattern.test(text))?.[1] ?? RUN_ERROR;
}

function runError(retry: boolean, inWords: () => string): Trouble {
  return {
    kind: 'run-error',
    retry,
    get sentence() {
      return inWords();
    },
  };
}

const holder = z.object({ run_id: z.string() });

function holderIn(body: unknown): { readonly runId?: string } {
  const runId = holder.safeParse(body).data?.run_id;
  return runId === undefined ? {} : { runId };
}

const UNREACHABLE: Trouble = {
  kind: 'unreachable',
  retry: true,
  get sentence() {
    return t('The agent cannot be reached at the moment.');
  },
};
const UNAUTHORISED: Trouble = {
  kind: 'unauthorised',
  retry: false,
  get sentence() {
    return t("The Letta server does not accept the bot's key. The bot's owner has to set it anew.");
  },
};
const UNKNOWN_AGENT: Trouble = {
  kind: 'unknown-agent',
  retry: false,
  get sentence() {
    return t('The Letta server has no such agent any more.');
  },
};
const REFUSED: Trouble = {
  kind: 'refused',
  retry: false,
  get sentence() {
    return t('The Letta server did not take the message.');
  },
};
const PENDING: Trouble = {
  kind: 'pending-approval',
  retry: true,
  get sentence() {
    return t('The agent is still waiting for an approval.');
  },
};
const BUSY: Trouble = {
  kind: 'busy',
  retry: true,
  get sentence() {
    return t('The agent is busy with something else.');
  },
};
const NO_BACKGROUND: Trouble = {
  kind: 'no-background',
  retry: true,
  get sentence() {
    return t('The Letta server has no background runs.');
  },
};
const RATE_LIMITED: Trouble = {
  kind: 'rate-limited',
  retry: true,
  get sentence() {
    return t('The agent has been asked too much for the moment.');
  },
};
const SERVER_ERROR: Trouble = {
  kind: 'server-error',
  retry: true,
  get sentence() {
    return t('The Letta server has a problem at the moment.');
  },
};
const NO_CONVERSATIONS: Trouble = {
  kind: 'no-conversations',
  retry: false,
  get sentence() {
    return t('The Letta server does not have what I asked for. It may be too old.');
  },
};
const NOTHING_PENDING: Trouble = {
  kind: 'nothing-pending',
  retry: false,
  get sentence() {
    return t('The agent was not waiting for this decision any more.');
  },
};
const RUN_ERROR = runError(true, () => t('The agent ran into an error while it was working.'));
const RUN_TROUBLES: readonly (readonly [RegExp, Trouble])[] = [
  [WAITS, PENDING],
  [NOTHING_WAITS, NOTHING_PENDING],
  [
    /context_window|context.?length|maximum context/i,
    runError(false, () => t('What the agent has to read is too long for its model.')),
  ],
  [
    /llm_authentication|unauthenticated/i,
    runError(false, () =>
      t("The agent's model does not accept the key of the Letta server. Its owner has to set the key anew."),
    ),
  ],
  [
    /insufficient_credits|insufficient_quota|payment required/i,
    runError(false, () => t("The agent's model has no credit left.")),
  ],
  [/max_tokens_exceeded/i, runError(false, () => t("The agent's answer was longer than its model allows."))],
  [/llm_rate_limit|rate_limit/i, runError(true, () => t("The agent's model has been asked too much for the moment."))],
  [/llm_timeout|timed out/i, runError(true, () => t("The agent's model did not answer in time."))],
  [/llm_bad_request|invalid_tool_call/i, runError(false, () => t("The agent's model did not take what it was sent."))],
  [/llm_/i, runError(true, () => t("The agent's model has a problem at the moment."))],
];

interface ErrorResponse {
  readonly status: number | undefined;
  /** The body of the server's response; `undefined` without one. */
  readonly body: unknown;
  readonly headers: Headers | undefined;
}

function partsOf(error: unknown): ErrorResponse {
  if (typeof error !== 'object' || error === null) return { status: undefined, body: undefined, headers: undefined };
  return {
    status: 'status' in error && typeof error.status === 'number' ? error.status : undefined,
    body: 'error' in error ? error.error : undefined,
    headers: 'headers' in error && error.headers instanceof Headers ? error.headers : undefined,
  };
}

/** The `retry-after` header in milliseconds. Letta and proxies send it in seconds. */
function retryAfterMsOf(headers: Headers | undefined): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
