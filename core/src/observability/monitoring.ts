import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  CinnabarError,
  type Clock,
  type Document,
  isAllowedSource,
  isLoopback,
  type ListenAddress,
  type Logger,
  type Monitoring,
  type MonitoringPage,
  urlOf,
  withinLimit,
  z,
} from '@cinnabar/sdk';
import type { GatewayStatus, ShardStatus } from '../gateway/status.js';
import type { MetricsService } from './metrics.js';

interface Dependencies {
  /** `undefined`: nothing is served or counted. */
  readonly address: ListenAddress | undefined;
  readonly pages: MonitoringPages;
  readonly log: Logger;
}

/** `/healthz`, `/readyz` and `/metrics` over HTTP, for monitoring systems. */
interface MonitoringServer {
  /** `http://127.0.0.1:9464`; `undefined` while nothing listens. */
  readonly url: string | undefined;
  /** @throws CinnabarError CINNABAR_CONFIG_INVALID when the address cannot be listened on */
  open(): Promise<void>;
  /** Closes permanently, also while `open` is running. */
  close(): Promise<void>;
}

/** The pages, for every server that serves them. */
export interface MonitoringPages extends Monitoring {
  /** Starts counting. Idempotent. */
  open(): Promise<void>;
  /** Why the bot cannot serve people at the moment; empty when it can. */
  reasons(): Promise<readonly string[]>;
}

interface PageDependencies {
  readonly metrics: Pick<MetricsService, 'open' | 'render'>;
  /** Declares the host's own metrics. */
  readonly publish: () => void;
  readonly readiness: Readiness;
}

export function createMonitoringPages({ metrics, publish, readiness }: PageDependencies): MonitoringPages {
  let opening: Promise<void> | undefined;
  const open = () => {
    if (opening === undefined) {
      publish();
      opening = metrics.open();
    }
    return opening;
  };
  const pages: Readonly<Record<string, () => MonitoringPage | Promise<MonitoringPage>>> = {
    // An answer proves that the process and its event loop run.
    '/healthz': () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const reasons = await readiness.reasons();
      return reasons.length === 0 ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reasons });
    },
    '/metrics': async () => {
      await open();
      return { status: 200, ...(await metrics.render()) };
    },
  };
  return {
    paths: Object.keys(pages),
    open,
    reasons: () => readiness.reasons(),
    async page(path) {
      return Object.hasOwn(pages, path) ? pages[path]?.() : undefined;
    },
  };
}

export function createMonitoring({ address, pages, log }: Dependencies): MonitoringServer {
  const pageFor = async ({ method, url = '/', headers }: IncomingMessage): Promise<MonitoringPage> => {
    // A web page in a browser on this machine must not read the pages (DNS rebinding). On other addresses, the machine may have any name.
    if (address !== undefined && isLoopback(address) && !isAllowedSource(headers, { hosts: [], origins: [] }))
      return json(403, { error: 'Host or Origin is not allowed' });
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'only GET and HEAD are allowed' });
    const page = await pages.page(url.replace(/\?.*$/s, ''));
    return page ?? json(404, { error: `there is nothing here but ${pages.paths.join(', ')}` });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let page: MonitoringPage;
    try {
      page = await pageFor(request);
    } catch (error) {
      log.error('a request to the monitoring failed', { error });
      page = json(500, { error: 'something went wrong; the log has more' });
    }
    response.writeHead(page.status, { 'content-type': page.contentType, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : page.body);
  };

  const server = createServer((request, response) => void answer(request, response));
  let url: string | undefined;
  let opening: Promise<void> | undefined;
  let closed = false;

  const listen = async (at: ListenAddress) => {
    await pages.open();
    if (closed) return;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(cannotListen(at, error)));
      server.listen(at.port, at.host, resolve);
    });
    const bound = server.address();
    const boundUrl = urlOf(at, typeof bound === 'object' && bound !== null ? bound.port : at.port);
    url = boundUrl;
    log.info(`health and metrics are served at ${boundUrl}`);
    if (!isLoopback(at)) {
      log.warn(
        `health and metrics at ${boundUrl} can be read by other machines, without a password: let only your monitoring reach that port`,
      );
    }
  };
  return {
    get url() {
      return url;
    },
    async open() {
      if (address === undefined || closed) return;
      opening = listen(address);
      await opening;
    },
    async close() {
      closed = true;
      await opening?.catch(() => undefined);
      if (url === undefined) return;
      url = undefined;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function json(status: number, content: object): MonitoringPage {
  return { status, contentType: 'application/json; charset=utf-8', body: `${JSON.stringify(content)}\n` };
}

function cannotListen(address: ListenAddress, error: Error): CinnabarError {
  const detail =
    `nothing can listen at ${urlOf(address, address.port)} (host.monitoring.listen, or CINNABAR_MONITORING): ${error.message}. ` +
    'Choose another port, one for each bot, or off';
  return new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
}

/** Minimum interval between two checks of the storage. */
const PROBE_EVERY_MS = 10_000;
const PROBE_LIMIT_MS = 5_000;

export const probeSchema = z.object({ at: z.number() });

interface ReadinessDependencies {
  readonly phase: () => 'starting' | 'running' | 'stopping';
  readonly gateway: GatewayStatus;
  /** A document that may be written at any time. */
  readonly probe: () => Document<z.output<typeof probeSchema>>;
  readonly clock: Clock;
}

interface Readiness {
  /** Why the bot cannot serve people at the moment; empty when it can. */
  reasons(): Promise<readonly string[]>;
}

export function createReadiness({ phase, gateway, probe, clock }: ReadinessDependencies): Readiness {
  let probedAt = Number.NEGATIVE_INFINITY;
  let result: Promise<readonly string[]> = Promise.resolve([]);

  const write = async (): Promise<readonly string[]> => {
    try {
      const { inTime } = await withinLimit(clock, PROBE_LIMIT_MS, probe().set({ at: clock.now() }));
      return inTime ? [] : [`storage: a write takes longer than ${PROBE_LIMIT_MS / 1000} s`];
    } catch (error) {
      return [`storage: writing failed (${codeOf(error)})`];
    }
  };
  const storage = () => {
    if (clock.now() - probedAt >= PROBE_EVERY_MS) {
      probedAt = clock.now();
      result = write();
    }
    return result;
  };

  return {
    async reasons() {
      const known = phase();
      if (known === 'stopping') return ['stopping'];
      return [
        ...(known === 'starting' ? ['starting: not logged in to Discord yet'] : []),
        ...gateway.shards.flatMap((shard) => (shard.state === 'ready' ? [] : [away(shard)])),
        ...(await storage()),
      ];
    },
  };
}

function away({ id, state, notReadySince, lastClose }: ShardStatus): string {
  const since = notReadySince === undefined ? '' : `, not ready since ${new Date(notReadySince).toISOString()}`;
  const why = lastClose === undefined ? '' : ` (last close: ${`${lastClose.code} ${lastClose.reason}`.trim()})`;
  return `gateway: shard ${id} is ${state}${since}${why}`;
}

/** The system's error code of the error or one of its causes, such as `ENOSPC`. */
function codeOf(error: unknown): string {
  let code = 'the log has the reason';
  for (let one = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') code = one.code;
  }
  return code;
}
