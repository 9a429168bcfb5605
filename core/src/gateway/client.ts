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
  makeWebhookPostsOnce,
  makeWhileHeld,
  REQUESTS_PER_SECOND,
} from './rest.js';
import { createGatewayInformation, createIdentifyLimits, createSharedIdentifyLimits } from './session-limits.js';
import { createSessionRecorder } from './session-recorder.js';
import { createSharding, type Sharding, type SharedShards } from './shard.js';
import { createGatewayStatus, type GatewayStatus } from './status.js';

// From discord.js, since a module of our own would be a second copy of all that it needs, in the other module format.

export interface GatewayClient {
  readonly client: Client;
  /** What the connections are asked for: see `setIntents`. */
  readonly intents: readonly GatewayIntentsString[];
  readonly status: GatewayStatus;
  /** Resolves when Discord has ended the connection for a reason that waiting cannot mend, and when the client was closed before that. */
  readonly ended: Promise<CinnabarError>;
  /** Whether an error is Discord's or the network's fault, not that of the code which made the request. */
  isDiscordFailure(error: unknown): boolean;
  /** Sets what the next login asks for. When already connected and something new is asked for, identifies again, shard by shard. */
  setIntents(wanted: readonly GatewayIntentsString[]): void;
  /**
   * Where the bot's servers may move to another process: resolves once no other process will get the events again that have come so far. `undefined`
   * where none has to wait for that.
   */
  readonly stored: (() => Promise<void>) | undefined;
  /** Ends the connections so that another process can go on with their sessions, where there may be one; requests can be made on. */
  leave(): Promise<void>;
  /** Ends the connections, or the attempts to connect, for good. */
  close(): Promise<void>;
}

/** What the gateway needs of it. */
type ShardAssignment = Pick<Assignment, 'partition' | 'shardCount' | 'lease' | 'sessions' | 'limits'>;

interface Dependencies {
  /** REST base of a proxy or Discord-compatible server, without version. */
  readonly discordApi: string | undefined;
  /** Which shards are this host's; all that Discord recommends when it is left out. */
  readonly assignment?: ShardAssignment | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The way to the bot's owners. */
  readonly alert: (alert: OwnerAlert) => void;
}

/**
 * Builds the discord.js client, on shards of the host's own (`shard.ts`). It exists before login, so that plugins can be set up first and
 * the intents be the union of what they need.
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
  /** Discord has opened a session with these. */
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
    // As many as Discord recommends, where they are not shared with others.
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
        // discord.js asks for it when it logs in, and gives up at the first failure.
        built.fetchGatewayInformation = async () => {
          const { session_start_limit: limit, ...rest } = await information.get();
          // The shards wait for the limit by themselves; discord.js would refuse to start.
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
      // Called for each limit that is met or waited for; the event of that name is not for a 429.
      rejectOnRateLimit(limit) {
        log.info('rate limit of Discord', describeLimit(limit));
        return false;
      },
    },
  };
  const client = new Client(options);
  // Every plugin may have listeners of its own; their scopes remove them.
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
  /** Discord refuses what was asked for later than what it has accepted: the bot goes on as before. */
  const fallBack = (asked: number): boolean => {
    if (accepted === undefined || accepted.has(asked)) return false;
    const missing = new IntentsBitField(asked).remove(accepted);
    // Another shard has heard it before.
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
    // Sent by the next run, when this one cannot any more.
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
    isDiscordFailure: failures.isOne,
    get intents() {
      return client.options.intents.toArray();
    },
    setIntents(wanted) {
      const bits = new IntentsBitField(wanted).remove(refused);
      const before = new IntentsBitField(manager?.options.intents ?? 0);
      // More events than needed do no harm until the next login; missing ones do.
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
 * discord.js writes the stack that destroys a client to its debug event. Nothing reads that, and the host's source map, a tenth of a
 * second to parse, would be read for it at every stop.
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

/** One request an attempt: discord.js' own repetitions come at once, four in a row. */
function askGateway({ options }: WebSocketManager, signal: AbortSignal): () => Promise<unknown> {
  // It has one route. Its sweepers would keep the whole client in memory for four hours after a stop.
  const rest = new REST({ ...options.rest.options, retries: 0, hashSweepInterval: 0, handlerSweepInterval: 0 });
  return async () => {
    // A signal of its own for each request: discord.js never removes its listeners.
    const ofRequest = linkSignals(signal);
    try {
      return await rest.setToken(options.token).get(Routes.gatewayBot(), { signal: ofRequest.signal });
    } finally {
      ofRequest.release();
    }
  };
}

/**
 * The global limit is kept by `createFairRequests`: discord.js would serve requests in the order in which they come. A server on this machine,
 * a rate-limiting proxy or the local Discord, answers 429 itself.
 */
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
 * Logs in and resolves once the client is ready. While Discord is away it waits and tries again.
 * @throws CinnabarError CINNABAR_GATEWAY_LOGIN for what waiting cannot mend, saying what to change; and when the client is closed meanwhile
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
    // From here on another process could go on.
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

/** What to do about closes that no waiting mends. https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway */
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

/** What to do when Discord closes with a code after which it must not be tried again; `undefined` for all other codes. */
export function adviceFor(code: number, intents: readonly string[]): string | undefined {
  return ADVICE.get(code)?.replace('{intents}', intents.join(', '));
}
