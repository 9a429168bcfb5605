import {
  type Access,
  type Actor,
  CinnabarError,
  type Clock,
  createRateLimiter,
  currentLocale,
  isAllowedSource,
  isLoopback,
  type Languages,
  type ListenAddress,
  type Logger,
  type Monitoring,
  NO_CHANNEL,
  sentenceOf,
  t,
  UserError,
  urlOf,
  type WebBlock,
  type WebPages,
  type WebQuery,
  type WebRequest,
  type WebRoute,
  z,
} from '@cinnabar/sdk';
import cookie from '@fastify/cookie';
import type { Client } from 'discord.js';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type DiscordSignIn, STATE_LIVES_MS } from './discord-sign-in.js';
import { createPageEvents } from './events.js';
import { isSameSecret, type Session, type Sessions, type SignInLinks } from './sessions.js';
import { findStaticFiles, type StaticFile } from './static-files.js';

interface Dependencies {
  readonly address: ListenAddress;
  /** The address that visitors use; set if a proxy is in front. */
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
  /** Folder of the built pages. */
  readonly folder: string;
  readonly pages: WebPages;
  readonly access: Access;
  readonly client: Client;
  readonly languages: Languages;
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  /** `undefined` if the bot has no secret for it. */
  readonly discordSignIn: DiscordSignIn | undefined;
  readonly monitoring: Monitoring;
  /** The token with which another machine may read the metrics. */
  readonly metricsToken: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Server {
  /** The address for visitors, without a path. */
  readonly url: string;
  close(): Promise<void>;
}

const COOKIE = 'cinnabar_session';
/** Binds a sign-in with Discord to the browser that began it. */
const STATE_COOKIE = 'cinnabar_sign_in';
const CALLBACK = '/auth/discord/callback';
/** The path of the documentation, which is public. */
const BOOK = '/docs';
const MOST_BODY_BYTES = 2 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** Limit for each address, signed in or not. */
const REQUESTS_PER_MINUTE = 600;
/** Limit of failed attempts to use links, for each address. */
const SIGN_INS_PER_MINUTE = 20;
const ACTS_PER_MINUTE = 120;
const MOST_KEYS = 10_000;

const id = z.string().regex(/^\d{15,22}$/);
const pageParams = z.object({ plugin: z.string().max(64), page: z.string().max(64) });
const fileParams = pageParams.extend({ file: z.string().max(64) });
const actParams = pageParams.extend({ act: z.string().max(64) });
const pageQuery = z.record(z.string().max(64), z.string().max(2_000));
const linkBody = z.object({ token: z.string().max(200) });
const callbackQuery = z.object({ code: z.string().max(500).default(''), state: z.string().max(200).default('') });
const actBody = z.object({ input: z.record(z.string(), z.unknown()).default({}) });
const choiceQuery = z.object({
  guild: id,
  kind: z.enum(['channel', 'role', 'user']),
  search: z.string().max(100).default(''),
});

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://cdn.discordapp.com; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** A request without a valid session, or without its CSRF token. */
class Refused extends UserError {
  readonly status: number;
  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** Serves the pages and their data. Resolves when it listens. @throws CinnabarError CINNABAR_CONFIG_INVALID */
export async function startServer(parts: Dependencies): Promise<Server> {
  const {
    access,
    address,
    client,
    clock,
    discordSignIn,
    languages,
    links,
    log,
    monitoring,
    pages,
    publicUrl,
    sessions,
  } = parts;
  const files = await findStaticFiles(parts.folder);
  const requests = createRateLimiter(clock, MINUTE_MS, MOST_KEYS);
  const signIns = createRateLimiter(clock, MINUTE_MS, MOST_KEYS);
  const acts = createRateLimiter(clock, MINUTE_MS, MOST_KEYS);
  const events = createPageEvents(pages, clock, log);
  const shown = publicUrl === undefined ? undefined : new URL(publicUrl);
  const allowed = {
    hosts: [address.host, ...(shown === undefined ? [] : [shown.hostname])],
    origins: shown === undefined ? [] : [shown.origin],
  };
  const isSecure = shown?.protocol === 'https:';
  const app = fastify({
    bodyLimit: MOST_BODY_BYTES,
    trustProxy: parts.trustProxy,
    forceCloseConnections: true,
    // No request takes longer; event streams have heartbeats.
    requestTimeout: MINUTE_MS,
  });
  await app.register(cookie);

  /** The address for visitors, once it listens. */
  const url = () => {
    const bound = app.server.address();
    return shown?.origin ?? urlOf(address, typeof bound === 'object' && bound !== null ? bound.port : address.port);
  };
  const tooMany = (waitMs: number, reply: FastifyReply): never => {
    void reply.header('retry-after', String(Math.ceil(waitMs / 1_000)));
    throw new Refused(429, t('Too many requests. Please wait a moment.'));
  };

  /**
   * Checks access to health and metrics. Health needs no authentication, and no known host name if the server listens beyond this machine. Metrics reveal what
   * members do and spend, so they need the token, or a direct request from this machine.
   */
  const assertWatcher = (route: string, { headers, socket }: FastifyRequest, reply: FastifyReply) => {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (parts.metricsToken !== undefined && bearer !== undefined && isSameSecret(bearer, parts.metricsToken)) return;
    const isAllowed = isAllowedSource(headers, allowed);
    // Requests that a proxy forwards also come from this machine.
    const isDirect = shown === undefined && !parts.trustProxy && headers['x-forwarded-for'] === undefined;
    const isHere = isLoopback({ host: socket.remoteAddress?.replace(/^::ffff:/, '') ?? '', port: 0 });
    if (route === '/metrics' ? isAllowed && isDirect && isHere : isAllowed || !isLoopback(address)) return;
    if (route !== '/metrics') throw new Refused(403, t('Host or Origin is not allowed.'));
    void reply.header('www-authenticate', 'Bearer');
    throw new Refused(401, t('Metrics are for this machine, or for the token CINNABAR_METRICS_TOKEN.'));
  };

  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS);
    const { url: route = '' } = request.routeOptions;
    if (monitoring.paths.includes(route)) assertWatcher(route, request, reply);
    else if (!isAllowedSource(request.headers, allowed)) throw new Refused(403, t('Host or Origin is not allowed.'));
    const wait = requests.take(request.ip, REQUESTS_PER_MINUTE);
    if (wait !== undefined) tooMany(wait.waitMs, reply);
    const handle = request.is404 ? pages.route(pathIn(request)) : undefined;
    if (handle !== undefined) await passOn(handle, request, reply);
  });
  /** Passes a request to a plugin's route. Checked before the body is read, because the plugin parses the body. */
  const passOn = async (handle: WebRoute['handle'], request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    const { raw } = reply;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) raw.setHeader(name, value);
    try {
      await handle(request.raw, raw);
    } catch (error) {
      log.error('a request of the web failed', { error, route: pathIn(request) });
      if (!raw.headersSent) raw.writeHead(500);
      raw.end();
    }
  };

  const sessionOf = async (request: FastifyRequest): Promise<(Session & { readonly id: string }) | undefined> => {
    const given = request.cookies[COOKIE];
    const session = given === undefined ? undefined : await sessions.find(given);
    return session === undefined || given === undefined ? undefined : { ...session, id: given };
  };
  /** @throws Refused when the request has no valid session */
  const signedIn = async (request: FastifyRequest) => {
    const session = await sessionOf(request);
    if (session === undefined) throw new Refused(401, t('Please sign in.'));
    return session;
  };
  /** The session of a request that changes something. @throws Refused without the CSRF token, which only these pages know */
  const provenBy = async (request: FastifyRequest) => {
    const session = await signedIn(request);
    const token = request.headers['x-csrf-token'];
    if (typeof token !== 'string' || !isSameSecret(token, session.csrf))
      throw new Refused(403, t('This page is too old. Please load it again.'));
    return session;
  };
  const webRequest = ({ userId }: Session, given: unknown): WebRequest => {
    const { guild, ...query }: WebQuery = pageQuery.parse(given);
    return { actor: actorFor(userId, guild === undefined ? null : id.parse(guild)), query };
  };
  const limitActs = ({ userId }: Session, reply: FastifyReply) => {
    const wait = acts.take(userId, ACTS_PER_MINUTE);
    if (wait !== undefined) tooMany(wait.waitMs, reply);
  };
  const named = async (blocks: readonly WebBlock[], actor: Actor) => ({
    names: await pages.names(blocks, actor),
  });

  app.setErrorHandler((error, request, reply) => {
    const { status, body } = answerTo(error);
    if (status >= 500) log.error('a request of the web failed', { error, route: request.routeOptions.url });
    return reply.code(status).header('cache-control', 'no-store').send(body);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.url.startsWith('/api/') || request.url.startsWith('/auth/'))
      void reply.header('cache-control', 'no-store');
    return payload;
  });

  for (const path of monitoring.paths) {
    app.get(path, async (_, reply) => {
      const page = await monitoring.page(path);
      return reply
        .code(page?.status ?? 404)
        .headers({ 'content-type': page?.contentType, 'cache-control': 'no-store' })
        .send(page?.body);
    });
  }

  app.get('/api/session', async (request) => {
    const session = await sessionOf(request);
    const bot = client.user;
    const about = {
      signIn: { discord: discordSignIn !== undefined },
      bot: bot === null ? null : { id: bot.id, name: bot.displayName, avatar: bot.displayAvatarURL({ size: 64 }) },
    };
    if (session === undefined) return { user: null, isOwner: false, csrf: null, guilds: [], language: 'en', ...about };
    const { csrf, userId } = session;
    const user = await client.users.fetch(userId);
    const isOwner = (await access.owners()).includes(userId);
    const guilds = await pages.guilds(userId);
    const language = await languages.speak({ guildId: null, userId }, async () => currentLocale());
    return {
      user: { id: userId, name: user.displayName, avatar: user.displayAvatarURL({ size: 64 }) },
      isOwner,
      csrf,
      guilds,
      language,
      ...about,
    };
  });

  app.get('/api/pages', async (request) => {
    const session = await signedIn(request);
    return { pages: await pages.list(webRequest(session, request.query).actor) };
  });

  app.get('/api/pages/:plugin/:page', async (request) => {
    const asked = webRequest(await signedIn(request), request.query);
    const view = await pages.view(pageOf(request), asked);
    return { view, ...(await named(view.blocks, asked.actor)) };
  });

  app.get('/api/pages/:plugin/:page/card', async (request) => {
    const asked = webRequest(await signedIn(request), request.query);
    const blocks = await pages.card(pageOf(request), asked);
    return { blocks, ...(await named(blocks, asked.actor)) };
  });

  app.get('/api/pages/:plugin/:page/files/:file', async (request, reply) => {
    const session = await signedIn(request);
    limitActs(session, reply);
    const { file } = fileParams.parse(request.params);
    const found = await pages.file(pageOf(request), file, webRequest(session, request.query));
    return reply
      .headers({
        'content-disposition': `attachment; filename="${found.name.replaceAll(/[^\w.-]/g, '_')}"`,
        'content-length': found.bytes,
        'content-type': found.contentType,
      })
      .send(found.read());
  });

  app.post('/api/pages/:plugin/:page/acts/:act', async (request, reply) => {
    const session = await provenBy(request);
    limitActs(session, reply);
    const { plugin, page, act } = actParams.parse(request.params);
    const asked = webRequest(session, request.query);
    const result = await pages.act(`${plugin}/${page}`, act, actBody.parse(request.body).input, asked);
    return {
      ...result,
      ...(await named([{ kind: 'text', text: result.said }, ...(result.blocks ?? [])], asked.actor)),
    };
  });

  app.get('/api/choices', async (request) => {
    const { userId } = await signedIn(request);
    const { guild, kind, search } = choiceQuery.parse(request.query);
    return { choices: await pages.choices(kind, search, actorFor(userId, guild)) };
  });

  app.get('/api/events', async (request, reply) => {
    const session = await signedIn(request);
    const { page = '', ...query } = pageQuery.parse(request.query);
    if (!events.hasRoomFor(session.userId)) throw new Refused(429, t('Too many requests. Please wait a moment.'));
    const asked = webRequest(session, query);
    await events.watch(reply, {
      page,
      asked,
      isSignedIn: () => sessions.isOpen(session.id),
      headers: SECURITY_HEADERS,
    });
    return reply;
  });

  const limitSignIns = (request: FastifyRequest, reply: FastifyReply) => {
    const wait = signIns.take(request.ip, SIGN_INS_PER_MINUTE);
    if (wait !== undefined) tooMany(wait.waitMs, reply);
  };
  /** Always opens a new session, so that a session id planted in the browser beforehand (session fixation) is worthless. */
  const enterAs = async (userId: string, request: FastifyRequest, reply: FastifyReply) => {
    const former = request.cookies[COOKIE];
    if (former !== undefined) await sessions.close(former);
    const opened = await sessions.open(userId);
    log.info('a user signed in to the dashboard', { userId });
    void reply.setCookie(COOKIE, opened, {
      httpOnly: true,
      path: '/',
      sameSite: 'lax',
      secure: isSecure,
      maxAge: 30 * 24 * 60 * 60,
    });
  };

  // The sign-in page sends this when its button is pressed, so that a chat client that fetches the link for a preview does not use it up.
  app.post('/auth/link', async (request, reply) => {
    limitSignIns(request, reply);
    const userId = links.take(linkBody.parse(request.body).token);
    if (userId === undefined)
      throw new Refused(403, t('This link was used already, or is too old. `web link` gives another one.'));
    await enterAs(userId, request, reply);
    return { said: t('You have signed in.') };
  });

  if (discordSignIn !== undefined) {
    app.get('/auth/discord', async (request, reply) => {
      limitSignIns(request, reply);
      const { address: consent, state } = discordSignIn.begin(`${url()}${CALLBACK}`);
      void reply.setCookie(STATE_COOKIE, state, {
        httpOnly: true,
        path: CALLBACK,
        sameSite: 'lax',
        secure: isSecure,
        maxAge: STATE_LIVES_MS / 1_000,
      });
      return reply.redirect(consent, 303);
    });

    app.get(CALLBACK, async (request, reply) => {
      limitSignIns(request, reply);
      const { code, state } = callbackQuery.parse(request.query);
      const begun = request.cookies[STATE_COOKIE];
      void reply.clearCookie(STATE_COOKIE, { path: CALLBACK });
      const isSameBrowser = begun !== undefined && isSameSecret(begun, state);
      // A user who declines at Discord returns to the start page.
      if (isSameBrowser && code === '') return reply.redirect('/', 303);
      const userId = isSameBrowser ? await discordSignIn.finish(state, code) : undefined;
      if (userId === undefined)
        throw new Refused(403, t('That sign-in was begun elsewhere, or is too old. Please begin again.'));
      await enterAs(userId, request, reply);
      return reply.redirect('/', 303);
    });
  }

  app.post('/auth/sign-out', async (request, reply) => {
    const session = await provenBy(request);
    await sessions.close(session.id);
    void reply.clearCookie(COOKIE, { path: '/' });
    return { said: t('You have signed out.') };
  });

  // For all other paths: a file of the pages, or the pages themselves, which interpret the address.
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathIn(request);
    if (path.startsWith('/api/') || path.startsWith('/auth/')) throw new Refused(404, t('There is nothing here.'));
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new Refused(405, t('There is nothing here.'));
    if (path === BOOK) return reply.redirect(`${BOOK}/`, 308);
    const file = files.get(path) ?? files.get(bookFile(path));
    if (file === undefined && /^\/(?:assets|docs)\//.test(path)) throw new Refused(404, t('There is nothing here.'));
    const shownFile = file ?? files.get('/index.html');
    if (shownFile === undefined) throw new Refused(503, 'The pages of the dashboard are not built: npm run build');
    return sendFile(request, reply, shownFile);
  });

  try {
    await app.listen({ host: address.host, port: address.port });
  } catch (error) {
    const detail = `nothing can listen at ${urlOf(address, address.port)} (CINNABAR_WEB, or set web listen): ${error instanceof Error ? error.message : String(error)}. Choose another port, or off`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
  log.info(`the dashboard is served at ${url()}`);
  if (!isLoopback(address) && !isSecure)
    log.warn(
      `the dashboard at ${url()} can be reached by other machines without encryption: put a proxy with https before it, and set web publicUrl`,
    );
  return {
    url: url(),
    async close() {
      events.close();
      await app.close();
    },
  };
}

const actorFor = (userId: string, guildId: string | null): Actor => ({ userId, guildId, channelId: NO_CHANNEL });

/** The path without its query. */
const pathIn = ({ url }: FastifyRequest): string => url.replace(/[?#].*$/s, '');

function pageOf({ params }: FastifyRequest): string {
  const { plugin, page } = pageParams.parse(params);
  return `${plugin}/${page}`;
}

/** The path of a page of the documentation: `/docs/admins/access` is `/docs/admins/access.html`. */
const bookFile = (path: string): string => `${path.replace(/\/$/, '/index')}.html`;

async function sendFile(request: FastifyRequest, reply: FastifyReply, { contentType, isImmutable, read }: StaticFile) {
  const { brotli, bytes, etag } = await read();
  void reply.headers({
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-type': contentType,
    etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const takesBrotli = /\bbr\b/.test(request.headers['accept-encoding'] ?? '');
  if (brotli === undefined || !takesBrotli) return reply.send(bytes);
  return reply.header('content-encoding', 'br').send(brotli);
}

const STATUS: Readonly<Partial<Record<CinnabarError['code'], number>>> = {
  CINNABAR_ACCESS_DENIED: 403,
  CINNABAR_CLUSTER_NO_ANSWER: 503,
  CINNABAR_CLUSTER_NOT_SERVED: 503,
  CINNABAR_IGNORED: 403,
  CINNABAR_PAGE_UNKNOWN: 404,
  CINNABAR_SETTING_CHANGED: 409,
};

/** The part of an act's input, or the setting, whose value was refused. */
function fieldOf({ code, params }: CinnabarError): { readonly field?: string } {
  const { key } = params;
  return code === 'CINNABAR_SETTING_INVALID' && typeof key === 'string' ? { field: key.replace(/\..*$/s, '') } : {};
}

/** Turns an error into a sentence; an unexpected error is only logged. */
function answerTo(error: unknown): {
  readonly status: number;
  readonly body: { readonly error: string; readonly code?: string; readonly field?: string };
} {
  if (error instanceof Refused) return { status: error.status, body: { error: error.message } };
  if (error instanceof CinnabarError) {
    const sentence = sentenceOf(error);
    if (sentence !== undefined)
      return { status: STATUS[error.code] ?? 422, body: { error: sentence, code: error.code, ...fieldOf(error) } };
  }
  if (error instanceof UserError) return { status: 422, body: { error: error.message } };
  if (error instanceof z.ZodError) return { status: 400, body: { error: t('That request is not as it should be.') } };
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return { status, body: { error: t('That request is not as it should be.') } };
  return { status: 500, body: { error: t('Something went wrong, and it is in the log.') } };
}
