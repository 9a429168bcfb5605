import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRouter, type MatchedRoute, sendJson } from '@cinnabar/local-http';
import { discordError, LocalDiscordError, OAuthError } from '../errors.js';
import type { RestFault, RestFaults } from '../faults.js';
import { applicationRoutes, gatewayRoutes } from '../resources/applications.js';
import { attachmentRoutes } from '../resources/attachments.js';
import { auditLogRoutes } from '../resources/audit-log.js';
import { autoModerationRoutes } from '../resources/auto-moderation.js';
import { channelRoutes } from '../resources/channels.js';
import { commandRoutes } from '../resources/commands.js';
import { guildRoutes } from '../resources/guilds.js';
import { interactionRoutes } from '../resources/interactions.js';
import { banRoutes, memberRoutes } from '../resources/members.js';
import { messageRoutes } from '../resources/message-routes.js';
import { oauth2Routes } from '../resources/oauth2.js';
import { pinRoutes } from '../resources/pins.js';
import { reactionRoutes } from '../resources/reactions.js';
import { roleRoutes } from '../resources/roles.js';
import { threadRoutes } from '../resources/thread-routes.js';
import { userRoutes } from '../resources/users.js';
import { webhookMessageRoutes, webhookRoutes } from '../resources/webhooks.js';
import type { Traffic } from '../settled.js';
import type { LocalApplication } from '../state/applications.js';
import type { LocalUser } from '../state/users.js';
import { realDelay } from '../waiters.js';
import type { World } from '../world.js';
import type { RateLimits } from './rate-limits.js';
import { Created, createContext, type RequestBody, type Route, readBody } from './request.js';
import { publishExchange, type RequestLog } from './request-log.js';

interface RestServices {
  world: World;
  faults: RestFaults;
  limits: RateLimits;
  log: RequestLog;
  traffic: Traffic;
}

interface Answer {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

/** The REST API: finds the route, applies faults and rate limits, and responds. */
export function createRestHandler(services: RestServices): Handler {
  return (request, response, url) => {
    services.traffic.begin();
    serve(services, request, response, url)
      .catch((error: unknown) => send(response, answerError(error), services.world.clock.now()))
      .finally(() => services.traffic.end());
  };
}

async function serve(
  services: RestServices,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { faults, log, world } = services;
  const method = request.method ?? 'GET';
  const version = /^\/api(?:\/v(\d+))?(\/.*)$/.exec(url.pathname);
  // discord.js encodes the `@me` of some paths. Ids and emoji contain no @.
  const path = (version?.[2] ?? url.pathname).replaceAll('%40', '@');
  const match = findRoute(method, path);
  const fault = faults.take(method, match?.route.path ?? path, path);
  const body = await readBody(request).catch((error: unknown) => error);
  if (fault?.kind === 'hold') await holdBack(services.traffic, fault.until);
  const answer = await decide(services, request, { method, url, match, body, version: version?.[1], fault });
  if (faults.latencyMs > 0) await realDelay(faults.latencyMs);
  log.add({
    method,
    path,
    route: match?.route.path ?? path,
    query: url.searchParams,
    body: isBody(body) ? body.json : undefined,
    files: isBody(body) ? body.files.map((file) => file.name) : [],
    reason: reasonOf(request),
    status: answer?.status ?? 0,
    at: world.clock.now(),
  });
  if (match) {
    publishExchange(() => ({
      method,
      route: match.route.path,
      query: [...url.searchParams.keys()],
      requestBody: isBody(body) ? body.json : undefined,
      response: answer === undefined || answer === fault ? undefined : answer,
    }));
  }
  if (answer) send(response, answer, world.clock.now());
  else response.destroy();
}

interface Incoming {
  method: string;
  url: URL;
  match: MatchedRoute<Route> | undefined;
  body: unknown;
  version: string | undefined;
  fault: RestFault | undefined;
}

/** @returns the response; `undefined` cuts the connection */
async function decide(
  services: RestServices,
  request: IncomingMessage,
  incoming: Incoming,
): Promise<Answer | undefined> {
  const { fault } = incoming;
  if (fault?.kind === 'status' && !fault.afterEffect) return fault;
  if (fault?.kind === 'drop' && !fault.afterEffect) return undefined;
  const answer = await carryOut(services, request, incoming).catch(answerError);
  if (fault?.kind === 'status') return fault;
  return fault?.kind === 'drop' ? undefined : answer;
}

async function carryOut(services: RestServices, request: IncomingMessage, incoming: Incoming): Promise<Answer> {
  const { method, url, match, body, version } = incoming;
  if (version !== undefined && version !== '10') throw discordError('invalidApiVersion');
  if (!match) throw discordError('notFound');
  const application = authenticate(services.world, request);
  const person = application === undefined ? personOf(services.world, request, match.route.scope) : undefined;
  if (match.route.authenticated && !application && !person) throw discordError('unauthorized');
  const limit = services.limits.take(method, match.route.path, match.params, application?.id ?? 'open');
  if (limit.refused) {
    const { retryAfterSeconds, global } = limit.refused;
    const refusal = { message: 'You are being rate limited.', retry_after: retryAfterSeconds, global };
    return { status: 429, body: refusal, headers: limit.headers };
  }
  if (!isBody(body)) return { ...answerError(body), headers: limit.headers };
  try {
    const context = createContext(
      services.world,
      { application, person },
      match.params,
      url.searchParams,
      body,
      reasonOf(request),
    );
    const result = await match.route.handle(context);
    if (result === undefined) return { status: 204, headers: limit.headers };
    if (result instanceof Created) return { status: 201, body: result.body, headers: limit.headers };
    return { status: 200, body: result, headers: limit.headers };
  } catch (error) {
    return { ...answerError(error), headers: limit.headers };
  }
}

function isBody(body: unknown): body is RequestBody {
  return typeof body === 'object' && body !== null && 'files' in body;
}

async function holdBack(traffic: Traffic, until: Promise<void>): Promise<void> {
  traffic.hold();
  await until;
  traffic.release();
}

/** The bot of the request's token. */
function authenticate(world: World, request: IncomingMessage): LocalApplication | undefined {
  const token = request.headers.authorization?.replace(/^Bot /, '');
  if (token === undefined) return undefined;
  for (const application of world.applications.values()) if (application.token === token) return application;
  return undefined;
}

/** The user of an OAuth2 access token. */
function personOf(world: World, request: IncomingMessage, scope: string | undefined): LocalUser | undefined {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const access = bearer === undefined ? undefined : world.accessTokens.get(bearer);
  if (access === undefined || scope === undefined || access.until < world.clock.now()) return undefined;
  return access.scopes.includes(scope) ? access.user : undefined;
}

function reasonOf(request: IncomingMessage): string | undefined {
  const reason = request.headers['x-audit-log-reason'];
  if (typeof reason !== 'string') return undefined;
  try {
    return decodeURIComponent(reason);
  } catch {
    return reason;
  }
}

function answerError(error: unknown): Answer {
  if (error instanceof LocalDiscordError || error instanceof OAuthError)
    return { status: error.status, body: error.toJSON() };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { status: 500, body: { message: `500: The local Discord failed: ${detail}`, code: 0 } };
}

function send(response: ServerResponse, { status, body, headers }: Answer, now: number): void {
  if (response.destroyed || response.headersSent) return;
  sendJson(response, status, body, { date: new Date(now).toUTCString(), ...headers });
}

/** All routes of the REST API, resource by resource. */
const routes: readonly Route[] = [
  ...applicationRoutes,
  ...attachmentRoutes,
  ...auditLogRoutes,
  ...autoModerationRoutes,
  ...banRoutes,
  ...channelRoutes,
  ...commandRoutes,
  ...gatewayRoutes,
  ...guildRoutes,
  ...interactionRoutes,
  ...memberRoutes,
  ...messageRoutes,
  ...oauth2Routes,
  ...pinRoutes,
  ...reactionRoutes,
  ...roleRoutes,
  ...threadRoutes,
  ...userRoutes,
  ...webhookMessageRoutes,
  ...webhookRoutes,
];
/** Shared by all local Discords of the process, since every test starts one. */
const findRoute = createRouter(routes);
