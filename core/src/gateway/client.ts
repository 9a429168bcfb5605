import {
  CinnabarError,
  type Clock,
  type LogFields,
  type Logger,
  linkSignals,
  type OwnerAlert,
  operatorSentenceOf,
  type Random,
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
import { cacheOptions, sweepDirectMessages } from './caches.js';
import { adviceFor } from './close-codes.js';
import { createIdentifyLimits } from './identify-limits.js';
import { createGatewayInformation } from './information.js';
import {
  createDiscordFailures,
  createFairRequests,
  type DiscordFailures,
  makeWebhookPostsOnce,
  REQUESTS_PER_SECOND,
} from './rest.js';
import { createSharding, type Sharding } from './sharding.js';
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
  /** Ends the connections, or the attempts to connect, for good. */
  close(): Promise<void>;
}

interface Parts {
  /** REST base of a proxy or Discord-compatible server, without version. */
  readonly discordApi: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The way to the bot's owners. */
  readonly alert: (alert: OwnerAlert) => void;
}

/**
 * Builds the discord.js client, on shards of the host's own (`sharding.ts`). It exists before login, so that plugins can be set up first and
 * the intents be the union of what they need.
 */
export function createGatewayClient({ discordApi, clock, random, log, alert }: Parts): GatewayClient {
  const status = createGatewayStatus(clock);
  const failures = createDiscordFailures();
  const closing = new AbortController();
  let manager: WebSocketManager | undefined;
  let sharding: Sharding | undefined;
  /** Discord has opened a session with these. */
  let accepted: IntentsBitField | undefined;
  let refused = new IntentsBitField();
  let everReady = false;
  let end: (error: CinnabarError) => void = () => undefined;
  const ended = new Promise<CinnabarError>((resolve) => {
    end = resolve;
  });

  const options: ClientOptions = {
    intents: [],
    // As many as Discord recommends.
    shards: 'auto',
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
          limits: createIdentifyLimits(clock, information, log),
          status,
          clock,
          random,
          onAccepted(intents) {
            accepted = new IntentsBitField(intents);
          },
          isFatal,
        });
        return sharding;
      },
    },
    rest: {
      ...restOptions(discordApi, clock, failures),
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
      text: `A plugin asked for intents that Discord does not approve for this bot: ${names}. The bot goes on without them, and the plugin hears less than it needs.`,
      remedy: 'Switch them on in the Developer Portal → Bot and start the bot again, or disable the plugin.',
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
        text: error.message,
        remedy: 'The bot has ended; start it again when that is done.',
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
 * The global limit is kept by `createFairRequests`: discord.js would serve who came first. A server on this machine, a rate-limiting proxy or
 * the local Discord, says itself when it has had enough.
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
): NonNullable<ClientOptions['rest']> {
  const hostname = api === undefined ? '' : new URL(api).hostname;
  const local = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  const perSecond = local ? Number.POSITIVE_INFINITY : REQUESTS_PER_SECOND;
  return {
    ...(api === undefined ? {} : { api }),
    makeRequest: failures.watch(
      makeWebhookPostsOnce(createFairRequests(clock, perSecond, DefaultRestOptions.makeRequest)),
    ),
    globalRequestsPerSecond: Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Logs in and resolves once the client is ready. While Discord is away it waits and tries again.
 * @throws CinnabarError CINNABAR_GATEWAY_LOGIN for what waiting cannot mend, saying what to change; and when the client is closed meanwhile
 */
export async function login({ client, ended }: GatewayClient, token: string): Promise<void> {
  const ready = new Promise<void>((resolve) => client.once('clientReady', () => resolve()));
  const connect = async () => {
    try {
      await client.login(token);
    } catch (error) {
      throw explain(error);
    }
    await ready;
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
