import type { IncomingMessage } from 'node:http';
import { listenOnLoopback } from '@cinnabar/local-http';
import { createExpectMessage, createObservers, type ExpectMessage, type Observers } from './expect-message.js';
import { createFaults, type Faults } from './faults.js';
import { type ConnectionLog, createConnectionLog } from './gateway/connection-log.js';
import { createGateway } from './gateway/server.js';
import type { SessionStartLimit } from './gateway/session-starts.js';
import { type ApplicationInit, createApplication, createGuild, createUser, type UserInit } from './people/account.js';
import { serveFile } from './resources/attachments.js';
import { createRateLimits, type RateLimitMode, type RateLimits } from './rest/rate-limits.js';
import { RequestLog } from './rest/request-log.js';
import { createRestHandler } from './rest/server.js';
import { createTraffic, heartbeats, settled, watchOwnRequests } from './settled.js';
import type { LocalApplication } from './state/applications.js';
import type { Clock } from './state/events.js';
import type { LocalGuild } from './state/guilds.js';
import type { LocalWebhook } from './state/messages.js';
import type { LocalUser } from './state/users.js';
import { createEntry, ENTRY } from './users-api/entry.js';
import { servePage } from './users-api/page.js';
import { createUsersApi, type UsersApiOptions } from './users-api/server.js';
import { PATIENCE_MS } from './waiters.js';
import { createWorld } from './world.js';

const DAY_MS = 86_400_000;
/** Base for parsing the paths of requests. */
const ORIGIN = 'http://localhost';

export interface LocalDiscordOptions {
  /** Default: the computer's clock. Ids, slow mode, rate limits, the 3-second rule and token lifetimes use it. */
  clock?: Clock;
  /** Default: a free port. */
  port?: number;
  /** Default: `generous`, which slows down no test. */
  rateLimits?: RateLimitMode;
  /**
   * The heartbeat interval in HELLO; default: a day. `settled()` requests heartbeats, and discord.js treats a connection as dead when its own heartbeat crosses
   * one.
   */
  heartbeatIntervalMs?: number;
  /** The recommended number of shards (`GET /gateway/bot`); default: 1. */
  shards?: number;
  /** Limits for opening sessions; enforced only if set. */
  sessionStartLimit?: SessionStartLimit;
  /** How long a session can be resumed after its socket has closed; default: for ever. */
  sessionLifetimeMs?: number;
  /** The host name in the gateway's address, for tests of name resolution; default: 127.0.0.1. */
  gatewayHost?: string;
  /** Messages kept per channel; default: 10,000. The oldest are dropped. */
  keepMessages?: number;
  /** Lets pages in a browser act as members, with `users.page` as the folder of the page that is served at `clientAddress()`. */
  users?: UsersApiOptions & { page?: string };
}

/** A local Discord on loopback. Everything is in memory and lost when it closes. */
export interface LocalDiscord extends AsyncDisposable {
  /** REST address for discord.js: `new Client({ rest: { api: discord.api } })`. */
  readonly api: string;
  /** CDN address for `rest: { cdn }`; the addresses of attachments contain it already. */
  readonly cdn: string;
  /** Address of the server: `http://127.0.0.1:port`. */
  readonly url: string;
  readonly clock: Clock;
  /** The requests of the clients. */
  readonly requests: RequestLog;
  /** Connections of clients to the gateway, and the open sockets. */
  readonly connections: ConnectionLog;
  readonly faults: Faults;
  readonly rateLimits: RateLimits;
  /** Users by id. */
  readonly webhooks: ReadonlyMap<string, LocalWebhook>;
  createUser(init: UserInit): LocalUser;
  createApplication(init: ApplicationInit): LocalApplication;
  /** Creates a guild whose first member is its owner. It has no channels. */
  createGuild(init: { name: string; owner: LocalUser }): LocalGuild;
  /** Resolves with the message when it exists or arrives. Rejects with a list of the other messages. */
  readonly expectMessage: ExpectMessage;
  /** Calls the function for every event, in server order. @returns a function that stops it */
  readonly observe: Observers['observe'];
  /** The address at which a browser acts as that member. It contains the key: everyone who has it can act as any member. */
  clientAddress(user: LocalUser): string;
  /** An address without the key, to pass to another program: valid for one visit within a minute, until the next one is created. */
  entryAddress(user: LocalUser): string;
  /** Resolves when every client has received every event and no request is running. Rejects after `timeoutMs` (10,000) of real time. */
  settled(timeoutMs?: number): Promise<void>;
  /** Requests a heartbeat from every client, as Discord may at any time; resolves when each has sent one. Rejects after `timeoutMs` (10,000) of real time. */
  heartbeats(timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a local Discord on 127.0.0.1 that behaves like the real one for discord.js.
 * @example
 * await using discord = await startLocalDiscord();
 * const you = discord.createUser({ name: 'you' });
 * const app = discord.createApplication({ name: 'Bot', owner: you });
 * const guild = discord.createGuild({ name: 'Night City', owner: you });
 * guild.invite(app);
 * const general = guild.createChannel({ name: 'general' });
 * await new Client({ intents, rest: { api: discord.api } }).login(app.token);
 * you.say(general, '!ping');
 * await discord.expectMessage({ channel: general, content: 'pong' });
 */
export async function startLocalDiscord(options: LocalDiscordOptions = {}): Promise<LocalDiscord> {
  const observers = createObservers();
  const world = createWorld({ ...options, notify: observers.notify });
  const connections = createConnectionLog(world.clock);
  const faults = createFaults(world, connections);
  const traffic = createTraffic();
  const requests = new RequestLog();
  const rateLimits = createRateLimits(world.clock, options.rateLimits ?? 'generous');
  const gateway = createGateway(world, faults.gateway, connections, {
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? DAY_MS,
  });
  const page = options.users?.page;
  const users = createUsersApi(world, observers, () => url, options.users ?? {});
  const clientAddress = ({ id }: LocalUser) => `${url}/client/#key=${users.key}&as=${id}`;
  const entry = createEntry(world.clock, clientAddress);
  const rest = createRestHandler({ world, faults: faults.rest, limits: rateLimits, log: requests, traffic });
  const {
    server,
    url,
    port,
    close: closeServer,
  } = await listenOnLoopback((request, response) => {
    if (!URL.canParse(request.url ?? '/', ORIGIN)) {
      response.writeHead(400).end();
      return;
    }
    const url = new URL(request.url ?? '/', ORIGIN);
    if (page !== undefined && url.pathname.startsWith(ENTRY)) entry.serve(response, url.pathname);
    else if (page !== undefined && url.pathname.startsWith('/client/'))
      void servePage(page, request, response, url.pathname);
    else if (fromBrowser(request)) response.writeHead(403).end('This is no place for web pages.');
    else if (url.pathname.startsWith('/cdn/')) serveFile(world, response, url);
    else rest(request, response, url);
  }, options.port);
  server.on('upgrade', (request, socket, head) => {
    if (!URL.canParse(request.url ?? '/', ORIGIN)) socket.destroy();
    else if (request.url?.startsWith('/local/users?') && options.users) users.handleUpgrade(request, socket, head);
    else if (fromBrowser(request)) socket.destroy();
    else gateway.handleUpgrade(request, socket, head);
  });
  server.on('connection', () => traffic.touch());
  const gatewayUrl = `ws://${options.gatewayHost ?? '127.0.0.1'}:${port}/gateway`;
  Object.assign(world.addresses, { api: `${url}/api`, cdn: `${url}/cdn`, gateway: gatewayUrl });

  const own = watchOwnRequests(url);

  const close = async () => {
    own.stop();
    gateway.close();
    users.close();
    await closeServer();
  };
  return {
    ...world.addresses,
    url,
    clock: world.clock,
    requests,
    connections,
    faults,
    rateLimits,
    webhooks: world.webhooks,
    createUser: (init) => createUser(world, init),
    createApplication: (init) => createApplication(world, init),
    createGuild: (init) => createGuild(world, init),
    expectMessage: createExpectMessage(world, observers),
    observe: observers.observe,
    clientAddress,
    entryAddress: (user) => `${url}${entry.pathFor(user)}`,
    heartbeats: (timeoutMs = PATIENCE_MS) => heartbeats(world, timeoutMs),
    settled: (timeoutMs = PATIENCE_MS) => settled(world, traffic, own, timeoutMs),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Pages in a browser can reach loopback, too; unlike them, bots send no Origin. */
function fromBrowser(request: IncomingMessage): boolean {
  return request.headers.origin !== undefined;
}
