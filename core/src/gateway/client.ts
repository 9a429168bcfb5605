import {
  CinnabarError,
  type Clock,
  type LogFields,
  type Logger,
  linkSignals,
  type OwnerAlert,
  operatorSentenceOf,
  type Random,
  t,
} from '@cinnabar/sdk';
import type { WebSocketManager } from '@discordjs/ws';
import {
  Client,
  type ClientOptions,
  DefaultRestOptions,
  GatewayCloseCodes,
  type GatewayIntentsString,
  IntentsBitField,
  Partials,
  type RateLimitData,
  REST,
  Routes,
} from 'discord.js';
import type { Assignment } from '../cluster/assignment.js';
import { cacheOptions, sweepDirectMessages } from './caches.js';
import { shardsOf } from './partition.js';
import {
  createDiscordFailures,
  createFairRequests,
  createRequestBudget,
  type DiscordFailures,
  type InteractionRequests,
  makeWebhookPostsOnce,
  makeWhileHeld,
  REQUESTS_PER_SECOND,
  watchInteractions,
} from './rest.js';
import { createGatewayInformation, createIdentifyLimits, createSharedIdentifyLimits } from './session-limits.js';
import { createSessionRecorder } from './session-recorder.js';
import { createSharding, type Sharding, type SharedShards } from './shard.js';
import { createGatewayStatus, type GatewayStatus } from './status.js';

// From discord.js: a second copy of the module would load all its dependencies again, in the other module format.

export interface GatewayClient {
  readonly client: Client;
  /** The requested intents: see `setIntents`. */
  readonly intents: readonly GatewayIntentsString[];
  readonly status: GatewayStatus;
  /** Resolves when Discord has closed the connection for a permanent reason, or the client was closed before that. */
  readonly ended: Promise<CinnabarError>;
  readonly interactionRequests: InteractionRequests;
  /** Whether an error was caused by Discord or the network, and not by the code that made the request. */
  isDiscordFailure(error: unknown): boolean;
  /** Sets the intents of the next login. When already connected and a new intent is requested, identifies again, shard by shard. */
  setIntents(wanted: readonly GatewayIntentsString[]): void;
  /**
   * Resolves once all events that have arrived so far are stored, so that no other process receives them again. `undefined` where the bot's servers cannot move
   * to another process.
   */
  readonly stored: (() => Promise<void>) | undefined;
  /** Closes the connections so that another process can resume their sessions, if there is one; requests are still possible. */
  leave(): Promise<void>;
  /** Closes the connections, or stops the attempts to connect, permanently. */
  close(): Promise<void>;
}

/** The cluster's parameters of the client. */
type ShardAssignment = Pick<Assignment, 'partition' | 'shardCount' | 'lease' | 'sessions' | 'limits'>;

interface Dependencies {
  /** The REST base of a proxy or Discord-compatible server, without version. */
  readonly discordApi: string | undefined;
  /** The shards of this host; all that Discord recommends when it is left out. */
  readonly assignment?: ShardAssignment | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Sends notices to the bot's owners. */
  readonly alert: (alert: OwnerAlert) => void;
}

/**
 * Builds the discord.js client, with the host's implementation of shards (`shard.ts`). It exists before the login, so that plugins are set up first and the
 * intents are the union of those that they need.
 */
export function createGatewayClient({
  discordApi,
  assignment,
  clock,
  random,
  log,
  alert,
}: Dependencies): GatewayClient {
  const status = createGatewayStatus(clock);
  const failures = createDiscordFailures();
  const closing = new AbortController();
  let manager: WebSocketManager | undefined;
  let sharding: Sharding | undefined;
  /** The intents with which Discord has opened a session. */
  let accepted: IntentsBitField | undefined;
  let refused = new IntentsBitField();
  let everReady = false;
  let becomeReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });
  let end: (error: CinnabarError) => void = () => undefined;
  const ended = new Promise<CinnabarError>((resolve) => {
    end = resolve;
  });

  const shareShards = ({ lease, sessions }: ShardAssignment): SharedShards => {
    const recorder = createSessionRecorder({ store: sessions, ready, ownId: () => client.user?.id ?? '', clock, log });
    lease.lost.addEventListener('abort', () => {
      recorder.stop();
      void sharding?.leave();
    });
    return { lease, ready, recorder, load: sessions.load };
  };
  const shared = assignment === undefined ? undefined : shareShards(assignment);

  const options: ClientOptions = {
    intents: [],
    // A host without others has as many shards as Discord recommends.
    ...(assignment === undefined
      ? { shards: 'auto' }
      : { shards: shardsOf(assignment.partition, assignment.shardCount), shardCount: assignment.shardCount }),
    // Reactions on old messages and direct messages arrive as partials: without these they would be dropped.
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User, Partials.GuildMember],
    allowedMentions: { parse: [], repliedUser: true },
    ...cacheOptions(),
    ws: {
      buildStrategy(built) {
        manager = built;
        const information = createGatewayInformation({
          ask: askGateway(built, closing.signal),
          clock,
          random,
          signal: closing.signal,
          onUnreachable: status.unreachable,
        });
        // At the login, discord.js requests this once, and would give up at the first failure.
        built.fetchGatewayInformation = async () => {
          const { session_start_limit: limit, ...rest } = await information.get();
          // Hides an exhausted limit, with which discord.js would refuse to start: the shards wait for the limit themselves.
          return { ...rest, session_start_limit: { ...limit, remaining: limit.total } };
        };
        sharding = createSharding({
          manager: built,
          information,
          limits:
            assignment === undefined
              ? createIdentifyLimits(clock, information, log)
              : createSharedIdentifyLimits({ limits: assignment.limits, information, clock, log }),
          status,
          clock,
          random,
          onAccepted(intents) {
            accepted = new IntentsBitField(intents);
          },
          isFatal,
          shared,
        });
        return sharding;
      },
    },
    rest: {
      ...restOptions(discordApi, clock, failures, assignment),
      // Called for each limit that is reached or waited for; discord.js has no event for a 429.
      rejectOnRateLimit(limit) {
        log.info('rate limit of Discord', describeLimit(limit));
        return false;
      },
    },
  };
  const client = new Client(options);
  const interactionRequests = watchInteractions(client.rest);
  // Every plugin may add listeners; their scopes remove them.
  client.setMaxListeners(0);
  const stopSweeping = sweepDirectMessages(client);
  client.once('clientReady', () => {
    everReady = true;
    becomeReady();
  });

  const ask = (bits: IntentsBitField) => {
    client.options.intents = bits;
    if (manager !== undefined) manager.options.intents = bits.bitfield;
  };
  /** Discord refuses intents that were added after a login that it had accepted: the bot continues as before. */
  const fallBack = (asked: number): boolean => {
    if (accepted === undefined || accepted.has(asked)) return false;
    const missing = new IntentsBitField(asked).remove(accepted);
    // The refusal of another shard was handled before.
    if (refused.has(missing)) return true;
    refused = refused.add(missing);
    ask(new IntentsBitField(client.options.intents).remove(missing));
    const names = missing.toArray().join(', ');
    log.error(`Discord refused the intents ${names}; going on without them`);
    alert({
      kind: 'intents-refused',
      text: () =>
        t(
          'A plugin asked for intents that Discord does not approve for this bot: {names}. The bot goes on without them, and the plugin hears less than it needs.',
          { names },
        ),
      remedy: () => t('Switch them on in the Developer Portal → Bot and start the bot again, or disable the plugin.'),
    });
    return true;
  };
  const isFatal = (code: number, reason: string, asked: number): boolean => {
    const names = client.options.intents.toArray();
    const advice = adviceFor(code, names);
    if (advice === undefined) return false;
    if (code === GatewayCloseCodes.DisallowedIntents && fallBack(asked)) return false;
    const error = everReady
      ? new CinnabarError('CINNABAR_GATEWAY_CLOSED', { code, detail: advice })
      : new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail: advice });
    log.error(error.message, { code, reason });
    // Sent by the next run when this run cannot send it any more.
    if (everReady)
      alert({
        kind: 'gateway-closed',
        text: () => operatorSentenceOf(error) ?? error.message,
        remedy: () => t('The bot has ended; start it again when that is done.'),
      });
    end(error);
    return true;
  };

  return {
    client,
    status,
    ended,
    interactionRequests,
    isDiscordFailure: failures.isOne,
    get intents() {
      return client.options.intents.toArray();
    },
    setIntents(wanted) {
      const bits = new IntentsBitField(wanted).remove(refused);
      const before = new IntentsBitField(manager?.options.intents ?? 0);
      // Intents that are no longer needed are dropped with the next login; only missing ones need a new session now.
      if (manager !== undefined && before.has(bits)) {
        client.options.intents = bits;
        return;
      }
      ask(bits);
      sharding?.identifyAnew();
    },
    stored: shared?.recorder.stored,
    async leave() {
      if (shared === undefined) return;
      await sharding?.leave();
      if (everReady && !shared.lease.lost.aborted) await shared.recorder.stored();
      shared.recorder.stop();
    },
    async close() {
      stopSweeping();
      closing.abort(new Error('the bot was stopped'));
      end(new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail: 'the bot was stopped before it was ready.' }));
      await destroyed(client);
    },
  };
}

/**
 * discord.js writes a stack trace to its debug event when a client is destroyed. No code uses it, and for it Node would read the host's source map, which takes
 * a tenth of a second at every stop.
 */
function destroyed(client: Client): Promise<void> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return client.destroy();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Makes one request for each attempt: discord.js would retry immediately, four times in a row. */
function askGateway({ options }: WebSocketManager, signal: AbortSignal): () => Promise<unknown> {
  // Without sweepers, which this REST client with its single route does not need: they would keep the whole client in memory for four hours after a stop.
  const rest = new REST({ ...options.rest.options, retries: 0, hashSweepInterval: 0, handlerSweepInterval: 0 });
  return async () => {
    // A new signal for each request: discord.js never removes its listeners.
    const ofRequest = linkSignals(signal);
    try {
      return await rest.setToken(options.token).get(Routes.gatewayBot(), { signal: ofRequest.signal });
    } finally {
      ofRequest.release();
    }
  };
}

function describeLimit({
  method,
  route,
  url,
  majorParameter,
  timeToReset,
  retryAfter,
  global,
}: RateLimitData): LogFields {
  const [, messageId] = /\/messages\/(\d{15,22})/.exec(url) ?? [];
  return {
    method,
    route,
    ...(route.startsWith('/channels/') ? { channelId: majorParameter } : { of: majorParameter }),
    ...(messageId === undefined ? {} : { messageId }),
    ms: Math.max(timeToReset, retryAfter),
    global,
  };
}

/**
 * The global limit of discord.js is switched off, since it sends requests in the order in which they are made: `createFairRequests` keeps the limit instead.
 * There is none for a server on this machine (a rate-limiting proxy, or the local Discord), which answers 429 itself.
 */
function restOptions(
  api: string | undefined,
  clock: Clock,
  failures: DiscordFailures,
  assignment: ShardAssignment | undefined,
): NonNullable<ClientOptions['rest']> {
  const hostname = api === undefined ? '' : new URL(api).hostname;
  const local = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  const budget = local ? undefined : (assignment?.limits.requests ?? createRequestBudget(clock, REQUESTS_PER_SECOND));
  return {
    ...(api === undefined ? {} : { api }),
    makeRequest: failures.watch(
      makeWebhookPostsOnce(
        createFairRequests(budget, makeWhileHeld(assignment?.lease, DefaultRestOptions.makeRequest)),
      ),
    ),
    globalRequestsPerSecond: Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Logs in and resolves once the client is ready. Retries while Discord is unreachable.
 * @throws CinnabarError CINNABAR_GATEWAY_LOGIN for permanent errors, with advice; also when the client is closed meanwhile
 */
export async function login({ client, ended, stored }: GatewayClient, token: string): Promise<void> {
  const ready = new Promise<void>((resolve) => client.once('clientReady', () => resolve()));
  const connect = async () => {
    try {
      await client.login(token);
    } catch (error) {
      throw explain(error);
    }
    await ready;
    // Once the sessions are stored, another process can resume them.
    await stored?.();
  };
  const error = await Promise.race([connect(), ended]);
  if (error !== undefined) throw error;
}

function explain(error: unknown): CinnabarError {
  if (error instanceof CinnabarError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const advice = code === 'TokenInvalid' ? adviceFor(GatewayCloseCodes.AuthenticationFailed, []) : undefined;
  const detail = advice ?? operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error));
  return new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail }, { cause: error });
}

/** Advice for close codes after which reconnecting is pointless. https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [
    GatewayCloseCodes.AuthenticationFailed,
    'the token is not valid. Check DISCORD_TOKEN (Developer Portal → Bot → Reset Token) and start again.',
  ],
  [
    GatewayCloseCodes.InvalidShard,
    'it does not know this shard. Start again: the number of shards is asked of Discord at each start.',
  ],
  [
    GatewayCloseCodes.ShardingRequired,
    'the bot is in too many servers for its number of shards. Start again: the number is asked of Discord at each start.',
  ],
  [
    GatewayCloseCodes.InvalidAPIVersion,
    'it no longer speaks the gateway version that this program uses. Update Cinnabar.',
  ],
  [
    GatewayCloseCodes.InvalidIntents,
    'it does not know one of these intents: {intents}. Update Cinnabar, or disable the plugin that asks for it.',
  ],
  [
    GatewayCloseCodes.DisallowedIntents,
    'it is not approved for all of these intents: {intents}. Switch the privileged ones on in the Developer Portal → Bot and start again.',
  ],
]);

/** The advice for a close code after which the bot must not reconnect; `undefined` for all other codes. */
export function adviceFor(code: number, intents: readonly string[]): string | undefined {
  return ADVICE.get(code)?.replace('{intents}', intents.join(', '));
}
