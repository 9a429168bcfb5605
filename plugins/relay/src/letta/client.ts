import {
  type CheckResult,
  type Clock,
  isPublicAddress,
  type Logger,
  literalAddressOf,
  OperatorError,
  operatorSentenceOf,
  sleep,
  t,
  type z,
} from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { MessageCreate } from '@letta-ai/letta-client/resources/agents/agents';
import type {
  ApprovalCreate,
  LettaStreamingResponse,
  Message,
  Run,
} from '@letta-ai/letta-client/resources/agents/messages';
import type { Tool } from '@letta-ai/letta-client/resources/tools';
import type { env } from '../context.js';
import type { settings } from '../settings.js';
import { troubleOf } from './errors.js';

/** The address of Letta's cloud. */
const CLOUD = 'https://api.letta.com';

export interface ServerAddress {
  /** Address of a self-hosted server; by default Letta's cloud. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Resolves with the client; loads its library at the first call. */
export type Connect = () => Promise<Letta>;

/**
 * Creates a client that never repeats a request: the queue does, which knows what was sent before.
 * @throws OperatorError for an invalid address, or for the cloud without a key
 */
export function createConnect({ baseUrl = CLOUD, apiKey }: ServerAddress): Connect {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw misconfigured(
      t('LETTA_BASE_URL is not an address of a Letta server: it has to begin with http:// or https://.'),
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw misconfigured(t('LETTA_BASE_URL must not contain a user or a password: the key belongs in LETTA_API_KEY.'));
  }
  if (url.origin === CLOUD && (apiKey === undefined || apiKey === '')) {
    throw misconfigured(t("Letta's cloud needs a key: set LETTA_API_KEY, or LETTA_BASE_URL for a server of your own."));
  }
  let client: Promise<Letta> | undefined;
  const load = async () => {
    const { Letta } = await import('@letta-ai/letta-client');
    // `null`, because for `undefined` the library would read key and project from the environment.
    return new Letta({ baseURL: baseUrl, apiKey: apiKey ?? null, projectID: null, maxRetries: 0, logLevel: 'off' });
  };
  return () => {
    client ??= load();
    return client;
  };
}

function misconfigured(reason: string): OperatorError {
  return new OperatorError(reason, t('The way to the Letta server is not set up. The bot’s owner can see why.'));
}

/** The version with which the relay was tested. */
export const TRIED = '0.16.8';
/** From this version on, servers refuse addresses of private networks for tools. */
export const REFUSES_PRIVATE_SINCE = '0.16.7';

/** The version that a Letta server reports; `undefined` if it reports none. @throws when the server cannot be reached */
export async function versionOf(client: Letta): Promise<string | undefined> {
  const { version } = await client.health();
  return /^\d+\.\d+\.\d+/.test(version) ? version : undefined;
}

/** Compares two versions by their three numbers. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  for (const [index, number] of (b ?? []).entries()) {
    const mine = a?.[index] ?? 0;
    if (mine !== number) return mine < number;
  }
  return false;
}

const INTERNAL_NAMES = /^(localhost|metadata\.google\.internal|.*\.(local|localdomain|localhost|home\.arpa|svc))$/;

/** Whether an address names a host of a private network. Names are not resolved. */
export function isPrivateAddress(url: string): boolean {
  const address = new URL(url);
  const literal = literalAddressOf(address);
  if (literal !== undefined) return !isPublicAddress(literal);
  return INTERNAL_NAMES.test(address.hostname.toLowerCase().replace(/\.$/, ''));
}

const MOST_TOOLS = 1000;

/** All tools of an agent. */
export async function toolsAt(client: Letta, agentId: string): Promise<readonly Tool[]> {
  return (await client.agents.tools.list(agentId, { limit: MOST_TOOLS })).items;
}

const FRESH_MS = 60_000;
/** Maximum number of cached agents. */
const MOST_AGENTS = 1_000;

/** Caches the names of agents' tools at the server. */
export function createKnownTools(connect: Connect, clock: Clock, log: Logger) {
  const known = new Map<string, { readonly at: number; readonly names: Promise<ReadonlySet<string>> }>();

  const ask = async (agentId: string): Promise<ReadonlySet<string>> => {
    try {
      const tools = await toolsAt(await connect(), agentId);
      return new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])));
    } catch (error) {
      // The prompt is sent without hints about tools, and the next one asks again.
      log.warn("the agent's tools are not known", { agentId, error });
      known.delete(agentId);
      return new Set();
    }
  };

  return {
    of(agentId: string): Promise<ReadonlySet<string>> {
      const kept = known.get(agentId);
      if (kept !== undefined && clock.now() - kept.at < FRESH_MS) return kept.names;
      const [oldest] = known.keys();
      if (known.size >= MOST_AGENTS && oldest !== undefined) known.delete(oldest);
      const names = ask(agentId);
      known.set(agentId, { at: clock.now(), names });
      return names;
    },
    /** To be called when the agent's tools have changed. */
    forget: (agentId: string) => void known.delete(agentId),
  };
}

export const POLL_MS = 1_000;
/** No limit for streams in practice: the deadline limits a request. */
const STREAM_TIMEOUT_MS = 2 * 60 * 60_000;

/** Polls a run until it has ended in any way. @throws errors of the client, and an error when the signal aborts */
export async function overRun(client: Letta, clock: Clock, runId: string, signal: AbortSignal): Promise<Run> {
  for (;;) {
    const run = await client.runs.retrieve(runId, { signal });
    if (isOver(run)) return run;
    await pause(clock, POLL_MS, signal);
  }
}

const PAGE = 100;

/**
 * All messages of a run, oldest first. The parts of one message have the same id, and are on one page. A page without new messages is the last one, also from a
 * server that ignores the cursor.
 */
export async function messagesOf(client: Letta, runId: string, signal: AbortSignal): Promise<readonly Message[]> {
  const all: Message[] = [];
  const known = new Set<string>();
  for (;;) {
    const after = all.at(-1)?.id;
    const query = { order: 'asc' as const, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const { items } = await client.runs.messages.list(runId, query, { signal });
    const fresh = items.filter(({ id }) => !known.has(id));
    all.push(...fresh);
    for (const { id } of fresh) known.add(id);
    if (fresh.length === 0 || items.length < PAGE) return all;
  }
}

export async function countMessages(client: Letta, runId: string, signal: AbortSignal): Promise<number> {
  return (await messagesOf(client, runId, signal)).length;
}

/** The chunks of a background run after the one with the number `after`. */
export function restOf(
  client: Letta,
  runId: string,
  after: number,
  signal: AbortSignal,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const from = { starting_after: after, include_pings: true };
  return client.runs.messages.stream(runId, from, { signal, timeout: STREAM_TIMEOUT_MS });
}

export function isOver({ status }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** @throws when the signal aborts */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (!(await sleep(clock, ms, signal))) throw new Error('stopped waiting');
}

/** Maximum number of steps of a run, so that an agent in a loop stops. */
const MAX_STEPS = 50;

/**
 * Sends a message, if possible in the background, so that the run survives a lost connection. It goes to the agent's default conversation, in which the server
 * recognises a repeated id and refuses a message while the agent is busy; older servers have no conversations.
 * @param unlocked sends it without that refusal, because the run that keeps the agent busy is dead
 */
export async function openStream(
  client: Letta,
  server: ServerFindings,
  agentId: string,
  message: MessageCreate | ApprovalCreate,
  signal: AbortSignal,
  unlocked = false,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const options = { signal, timeout: STREAM_TIMEOUT_MS };
  for (;;) {
    const { background, conversations } = server;
    const body = {
      messages: [message],
      streaming: true as const,
      background,
      include_pings: true,
      max_steps: MAX_STEPS,
    };
    try {
      return conversations && !unlocked
        ? await client.conversations.messages.create('default', { agent_id: agentId, ...body }, options)
        : await client.agents.messages.create(agentId, body, options);
    } catch (error) {
      const { kind } = troubleOf(error);
      if (background && kind === 'no-background') server.background = false;
      else if (conversations && kind === 'no-conversations') server.conversations = false;
      else throw error;
    }
  }
}

/** Properties of a server that were found out; kept as long as this process runs. */
export interface ServerFindings {
  /** Whether it supports background runs. */
  background: boolean;
  /** Whether it has conversation routes. */
  conversations: boolean;
  /** When it last refused a connection, in milliseconds since the Unix epoch. */
  refusedAt: number;
  /** Agents that are known to have no running run of an earlier process. */
  readonly free: Set<string>;
  /** Runs that the server shows as running although their process has ended. */
  readonly dead: Set<string>;
  /** Cancelled runs by agent, with the number of their messages at that time; their last step continues. */
  readonly cancelled: Map<string, CancelledRun>;
}

/** The progress of a run at one time. */
export interface RunMark {
  readonly runId: string;
  readonly messages: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The run makes no progress, so its process has ended. */
  readonly isDead?: true;
}

/** A cancelled run, whose last step may continue. */
interface CancelledRun extends RunMark {
  /** When the server accepted the run's message, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export function createServerFindings(): ServerFindings {
  return {
    background: true,
    conversations: true,
    refusedAt: Number.NEGATIVE_INFINITY,
    free: new Set(),
    dead: new Set(),
    cancelled: new Map(),
  };
}

/** Whether the server allows one run per agent at a time, and recognises a repeated message. */
export function serializes({ background, conversations }: ServerFindings): boolean {
  return background && conversations;
}

/** For `doctor`: checks that the Letta server can be reached and accepts the key, and its version. No result if none is configured. */
export async function checkLetta(
  { baseUrl = undefined }: Pick<z.output<typeof settings.global>, 'baseUrl'>,
  { LETTA_BASE_URL, LETTA_API_KEY }: z.output<typeof env>,
): Promise<readonly CheckResult[]> {
  const address = baseUrl ?? LETTA_BASE_URL;
  if (address === undefined && LETTA_API_KEY === undefined) return [];
  try {
    const client = await createConnect({ baseUrl: address, apiKey: LETTA_API_KEY })();
    const version = await versionOf(client);
    await client.agents.list({ limit: 1 });
    if (version !== undefined && isOlder(version, TRIED))
      return [
        {
          ok: false,
          text: t('The Letta server is version {version}; {tried} is the one that was tried', {
            version,
            tried: TRIED,
          }),
          remedy: t('Update the Letta server.'),
        },
      ];
    return [{ ok: true, text: t('The Letta server answers (version {version})', { version: version ?? '?' }) }];
  } catch (error) {
    const { sentence } = troubleOf(error);
    return [
      {
        ok: false,
        text: operatorSentenceOf(error) ?? sentence,
        remedy: t('Look at LETTA_BASE_URL and LETTA_API_KEY, and whether the server runs.'),
      },
    ];
  }
}
