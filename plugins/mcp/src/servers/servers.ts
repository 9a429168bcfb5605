import { createHash } from 'node:crypto';
import {
  type Clock,
  createKeyedMutex,
  type Logger,
  type OwnerNotices,
  type Registrar,
  t,
  translated,
  UserError,
  type WorkerModule,
} from '@cinnabar/sdk';
import { checkIn, createImported, type Imported } from '../importing/imported-tools.js';
import { type ListedTool, type Listings, listedTools, pinsOf, withPins } from '../importing/listing.js';
import type { ServerSettings } from '../settings.js';
import type { SERVER_STATES, ServerReport } from './administration.js';
import { type Connection, connect } from './connection.js';
import { endOrphans } from './process-tree.js';

interface ServersDependencies {
  readonly settings: Readonly<Record<string, ServerSettings>>;
  /** Identifies this process, the same in each run: letters and digits. */
  readonly owner: string;
  /** Whether this process runs the servers. Other processes offer the tools that it has stored. */
  readonly isKeeper: boolean;
  readonly env: Readonly<Record<string, unknown>>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly listings: Listings;
  readonly tool: Registrar['tool'];
  /** Sends notices to the owners of the bot. */
  readonly alert: OwnerNotices['alert'];
  /** Validates values by the servers' schemas. */
  readonly schemas: WorkerModule<typeof import('../importing/schema.js')>;
}

/** The configured servers. */
export interface Servers {
  /** Offers the stored tools. The process that runs the servers starts unknown ones in the background. */
  open(): Promise<void>;
  readonly names: readonly string[];
  report(): readonly ServerReport[];
  /** Resolves when no start and no listing of tools is running. */
  settled(): Promise<void>;
  /** @throws UserError when there is none with that name, or it does not start */
  restart(name: string): Promise<ServerReport>;
  /** Offers the changed and added tools. @throws UserError when there is none with that name */
  accept(name: string): Promise<ServerReport>;
  stop(): Promise<void>;
}

interface Server {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly supervisor: ServerSupervisor;
  readonly imported: Imported;
}

export function createServers(parts: ServersDependencies): Servers {
  const { clock, log, listings } = parts;
  const mutex = createKeyedMutex();
  const waiting = new Map<string, readonly ListedTool[]>();
  const tellOwner = (name: string, pending: readonly ListedTool[]) =>
    parts.alert({
      kind: 'mcp-tools-changed',
      text: () =>
        t('The MCP server {name} has changed or added {count} of its tools: they are not offered.', {
          name,
          count: pending.length,
        }),
      remedy: () => t('Look at them with `!mcp tools {name}`, and let them in with `!mcp accept {name}`.', { name }),
    });
  const servers = Object.entries(parts.settings)
    .filter(([, settings]) => settings.enabled)
    .map(([name, settings]) => createServer(name, settings));

  function createServer(name: string, settings: ServerSettings): Server {
    const refresh = (connection: Connection) =>
      mutex.run(name, async () => {
        const { tools, unusable } = listedTools(await connection.tools());
        if (unusable.length > 0) log.warn('tools with a schema that cannot be used', { server: name, tools: unusable });
        const fingerprint = fingerprintOf(settings);
        const before = await listings.of(name).find();
        // The owner has just configured this server, so its tools count as accepted.
        const known = before?.fingerprint === fingerprint ? before : undefined;
        const pins = known === undefined ? pinsOf(tools) : { ...pinsOf(known.tools), ...known.pins };
        const { offered, pending } = withPins(pins, tools);
        // Stored before it is offered, so that other processes and a restart find it.
        await listings.of(name).set({ fingerprint, pins, tools: [...offered], pending: [...pending] });
        await imported.update(offered);
        waiting.set(name, pending);
        if (pending.length > 0) tellOwner(name, pending);
      });
    const supervisor = createSupervisor({
      name,
      clock,
      log,
      onUp: refresh,
      connect: async (onGone, signal) => {
        const connection: Connection = await connect({
          ...parts,
          name,
          settings,
          signal,
          onGone,
          onToolsChanged: () =>
            void refresh(connection).catch((error: unknown) =>
              log.warn('the tools of an MCP server could not be read again', { server: name, error }),
            ),
        });
        return connection;
      },
    });
    const check = checkIn(parts.schemas, name);
    const imported = createImported({ ...parts, server: name, settings, check, need: supervisor.need });
    return { name, settings, supervisor, imported };
  }

  const reportOn = ({ name, settings: { url, command, tier }, supervisor, imported }: Server): ServerReport => {
    const { state, problem, retryAt } = supervisor.status();
    return {
      name,
      where: url === undefined ? (command ?? '') : new URL(url).host,
      tier,
      state,
      ...(problem === undefined ? {} : { problem }),
      ...(retryAt === undefined ? {} : { retryMs: retryAt - clock.now() }),
      tools: [...imported.list()].map(([host, { risk, description }]) => ({ name: host, risk, description })),
      pending: (waiting.get(name) ?? []).map((tool) => ({ name: tool.name, description: tool.description })),
    };
  };

  /** Offers the stored tools of a server. @returns whether there are any for its current settings */
  const offerStored = async ({ name, settings, imported }: Server): Promise<boolean> => {
    const known = await listings.of(name).find();
    if (known?.fingerprint !== fingerprintOf(settings)) return false;
    waiting.set(name, known.pending);
    await imported.update(known.tools);
    return true;
  };

  const follow = (name: string) => {
    const server = servers.find((one) => one.name === name);
    if (server === undefined) return;
    mutex
      .run(name, () => offerStored(server))
      .catch((error: unknown) => log.warn('the tools of an MCP server could not be read', { server: name, error }));
  };

  const named = (name: string): Server => {
    const server = servers.find((one) => one.name === name);
    if (server !== undefined) return server;
    const names = servers.map((one) => one.name).join(', ') || t('none');
    throw new UserError(t('There is no MCP server "{name}". Configured: {names}.', { name, names }));
  };

  return {
    async open() {
      // Also in a process that does not run the servers any more: no other process on this machine can end its orphans.
      if (servers.some(({ settings }) => settings.command !== undefined)) await endOrphans(parts.owner);
      if (!parts.isKeeper) {
        listings.watch(follow);
        for (const { name } of servers) follow(name);
        return;
      }
      for (const server of servers) {
        // The supervisor reports a failure in the log and in `!mcp list`.
        if (!(await offerStored(server))) void server.supervisor.need().catch(() => undefined);
      }
    },
    names: servers.map(({ name }) => name),
    report: () => servers.map(reportOn),
    async settled() {
      await Promise.all(servers.map(({ supervisor }) => supervisor.settled()));
      await mutex.idle();
    },
    async restart(name) {
      const server = named(name);
      await server.supervisor.restart();
      return reportOn(server);
    },
    accept: (name) => {
      const server = named(name);
      return mutex.run(name, async () => {
        const known = await listings.of(name).find();
        if (known !== undefined) {
          const tools = [...known.tools, ...known.pending];
          await listings.of(name).set({ ...known, pins: { ...known.pins, ...pinsOf(tools) }, tools, pending: [] });
          await server.imported.update(tools);
        }
        waiting.delete(name);
        return reportOn(server);
      });
    },
    async stop() {
      await Promise.all(servers.map(({ supervisor }) => supervisor.stop()));
    },
  };
}

/** Identifies a server by its settings, which contain no values of secrets. */
function fingerprintOf({ command, args, env, cwd, url, headers, oauth }: ServerSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([command, args, env, cwd, url, headers, oauth]))
    .digest('hex');
}

type ServerState = (typeof SERVER_STATES)[number];

interface SupervisorStatus {
  readonly state: ServerState;
  /** Why it is not running. */
  readonly problem: string | undefined;
  /** Time of the next start, on the host's clock. */
  readonly retryAt: number | undefined;
}

interface Dependencies {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connect: (onGone: (why: string) => void, signal: AbortSignal) => Promise<Connection>;
  /** Called with each new connection before it can be used. */
  readonly onUp: (connection: Connection) => Promise<void>;
}

/** Keeps one server running, from its first use on. */
interface ServerSupervisor {
  /** Returns the connection; starts the server at the first use. @throws UserError while the server is down, with the time of the next attempt */
  need(): Promise<Connection>;
  /** Restarts the server at once, regardless of the back-off. @throws UserError */
  restart(): Promise<void>;
  status(): SupervisorStatus;
  /** Resolves when no start is running, whatever its result. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

function createSupervisor({ name, clock, log, connect, onUp }: Dependencies): ServerSupervisor {
  const backoff: Backoff = createBackoff(clock);
  let state: ServerState = 'not started';
  /** The problem for the owner: may quote the server. */
  let problem: string | undefined;
  let connection: Connection | undefined;
  let starting: Promise<Connection> | undefined;
  let cancelRetry: () => void = () => undefined;
  let cancelStart: () => void = () => undefined;
  let retryAt: number | undefined;

  const down = (why: string) => {
    connection = undefined;
    problem = why;
    if (state === 'stopped') return;
    state = 'waiting';
    const delayMs = backoff.next();
    retryAt = clock.now() + delayMs;
    log.warn(`the MCP server "${name}" is down; next try in ${Math.round(delayMs / 1000)} s`, { server: name, why });
    cancelRetry = clock.after(delayMs, () => void start().catch(() => undefined));
  };

  const start = (): Promise<Connection> => {
    cancelRetry();
    retryAt = undefined;
    state = 'starting';
    starting ??= begin().finally(() => {
      starting = undefined;
    });
    return starting;
  };

  const begin = async (): Promise<Connection> => {
    const abort = new AbortController();
    cancelStart = () => abort.abort(new UserError('it was stopped'));
    let fresh: Connection | undefined;
    let gone: string | undefined;
    try {
      const opened = await connect((why) => {
        gone = why;
        if (fresh !== undefined && fresh === connection) down(why);
      }, abort.signal);
      fresh = opened;
      await onUp(opened);
      abort.signal.throwIfAborted();
      if (gone !== undefined) throw new UserError(gone);
      connection = opened;
      state = 'running';
      problem = undefined;
      backoff.succeeded();
      log.info(`the MCP server "${name}" is running`, { server: name });
      return opened;
    } catch (error) {
      await fresh?.close();
      down(error instanceof Error ? error.message : String(error));
      throw new UserError(sentenceFor(), { cause: error });
    }
  };

  const sentenceFor = () => {
    const values = { name, problem: plainly(problem) };
    return retryAt === undefined
      ? t('The MCP server "{name}" is not running: {problem}.', values)
      : t('The MCP server "{name}" is not running: {problem}. It is tried again in {seconds} s.', {
          ...values,
          seconds: Math.ceil((retryAt - clock.now()) / 1000),
        });
  };

  const end = async () => {
    cancelRetry();
    cancelStart();
    await starting?.catch(() => undefined);
    cancelRetry();
    const last = connection;
    connection = undefined;
    await last?.close();
  };

  return {
    async need() {
      if (connection !== undefined) return connection;
      if (state === 'waiting' || state === 'stopped') throw new UserError(sentenceFor());
      return start();
    },
    async restart() {
      await end();
      if (state === 'stopped') throw new UserError(sentenceFor());
      backoff.reset();
      await start();
    },
    status: () => ({ state, problem, retryAt }),
    async settled() {
      await starting?.catch(() => undefined);
    },
    async stop() {
      state = 'stopped';
      await end();
    },
  };
}

/** The kind of the problem for members, without text of the server. */
function plainly(problem = 'it was stopped'): string {
  const kind = /^it (?:was stopped|stopped|took longer than \d+ s to start|cannot be reached any more)/.exec(
    problem,
  )?.[0];
  return translated(kind ?? 'it could not be started');
}

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** A server that has run this long is not crashing repeatedly. */
const STABLE_MS = 60_000;

/** The delay before each restart: 1 s, 2 s, 4 s … 5 min. Reset after the server has run for a minute. */
interface Backoff {
  next(): number;
  succeeded(): void;
  reset(): void;
}

function createBackoff(clock: Clock): Backoff {
  let failures = 0;
  let upSince: number | undefined;
  return {
    next() {
      if (upSince !== undefined && clock.now() - upSince >= STABLE_MS) failures = 0;
      upSince = undefined;
      failures += 1;
      return Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    },
    succeeded() {
      upSince = clock.now();
    },
    reset() {
      failures = 0;
      upSince = undefined;
    },
  };
}
