/** What can go wrong with a server of agents. */
export type TroubleKind =
  | 'unauthorised'
  | 'unknown-agent'
  | 'refused'
  /** The agent waits for an approval, and takes nothing else. */
  | 'pending-approval'
  /** It works on something else. */
  | 'busy'
  /** It has no background runs. */
  | 'no-background'
  | 'rate-limited'
  | 'server-error'
  | 'unreachable'
  /** A run that ended with an error. */
  | 'run-error';

export interface Trouble {
  readonly kind: TroubleKind;
  /** Whether the same may be tried again. */
  readonly retry: boolean;
  readonly retryAfterMs?: number;
  /** For people. */
  readonly sentence: string;
}

/** What an error of the client means. Read by its shape, so that the library is not loaded for it. */
export function troubleOf(error: unknown): Trouble {
  const { status, body, headers } = partsOf(error);
  const retryAfterMs = patienceIn(headers);
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  const text = JSON.stringify(body ?? null);
  if (status === undefined) return body === undefined ? UNREACHABLE : runTrouble(text);
  if (status === 401 || status === 403) return UNAUTHORISED;
  if (status === 404) return UNKNOWN_AGENT;
  if (status === 409) return /PENDING_APPROVAL|waiting for approval/i.test(text) ? PENDING : { ...BUSY, ...patience };
  if (status === 429) return { ...RATE_LIMITED, ...patience };
  if (status === 503 && /background.+redis/i.test(text)) return NO_BACKGROUND;
  if (status === 408 || status === 425 || status >= 500) return { ...SERVER_ERROR, ...patience };
  return REFUSED;
}

/** What a run's error means: those that the model's provider or the server may get over are worth another attempt. */
function runTrouble(text: string): Trouble {
  if (/waiting for approval/i.test(text)) return PENDING;
  const hopeless = /llm_authentication|insufficient_credits|context_window_overflow|invalid_tool_call/i.test(text);
  return hopeless ? { ...RUN_ERROR, retry: false } : RUN_ERROR;
}

const UNREACHABLE: Trouble = {
  kind: 'unreachable',
  retry: true,
  sentence: 'The agent cannot be reached at the moment.',
};
const UNAUTHORISED: Trouble = {
  kind: 'unauthorised',
  retry: false,
  sentence: "The Letta server does not accept the bot's key. The bot's owner has to set LETTA_API_KEY anew.",
};
const UNKNOWN_AGENT: Trouble = {
  kind: 'unknown-agent',
  retry: false,
  sentence: 'The Letta server has no such agent any more.',
};
const REFUSED: Trouble = { kind: 'refused', retry: false, sentence: 'The Letta server did not take the message.' };
const PENDING: Trouble = {
  kind: 'pending-approval',
  retry: true,
  sentence: 'The agent is still waiting for an approval.',
};
const BUSY: Trouble = { kind: 'busy', retry: true, sentence: 'The agent is busy with something else.' };
const NO_BACKGROUND: Trouble = {
  kind: 'no-background',
  retry: true,
  sentence: 'The Letta server has no background runs.',
};
const RATE_LIMITED: Trouble = {
  kind: 'rate-limited',
  retry: true,
  sentence: 'The agent has been asked too much for the moment.',
};
const SERVER_ERROR: Trouble = {
  kind: 'server-error',
  retry: true,
  sentence: 'The Letta server has a problem at the moment.',
};
const RUN_ERROR: Trouble = {
  kind: 'run-error',
  retry: true,
  sentence: 'The agent ran into an error while it was working.',
};

interface Parts {
  readonly status: number | undefined;
  /** What the server said; `undefined` when it said nothing. */
  readonly body: unknown;
  readonly headers: Headers | undefined;
}

function partsOf(error: unknown): Parts {
  if (typeof error !== 'object' || error === null) return { status: undefined, body: undefined, headers: undefined };
  return {
    status: 'status' in error && typeof error.status === 'number' ? error.status : undefined,
    body: 'error' in error ? error.error : undefined,
    headers: 'headers' in error && error.headers instanceof Headers ? error.headers : undefined,
  };
}

/** `retry-after`: in seconds, as both Letta and proxies before it send it. */
function patienceIn(headers: Headers | undefined): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
