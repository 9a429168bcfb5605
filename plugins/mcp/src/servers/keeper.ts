import { type Clock, type Logger, operatorSentenceOf, UserError } from '@cinnabar/sdk';
import type { Connection } from './connection.js';

type ServerState = 'not started' | 'starting' | 'running' | 'waiting' | 'stopped';

export interface KeeperStatus {
  readonly state: ServerState;
  /** Why it is not running. */
  readonly problem: string | undefined;
  /** When it is started again, on the host's clock. */
  readonly retryAt: number | undefined;
}

interface Parts {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connect: (onGone: (why: string) => void, signal: AbortSignal) => Promise<Connection>;
  /** Told of each new connection before anyone may use it. */
  readonly onUp: (connection: Connection) => Promise<void>;
}

/** Keeps one server running from its first use on. */
export interface Keeper {
  /** The running server; starts it when it was never needed before. @throws UserError when it is down, with when it is tried again */
  need(): Promise<Connection>;
  /** Ends it if it runs and starts it, whatever the back-off says. @throws UserError */
  restart(): Promise<void>;
  status(): KeeperStatus;
  /** Resolves when no start is under way, however it ended. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createKeeper({ name, clock, log, connect, onUp }: Parts): Keeper {
  const backoff: Backoff = createBackoff(clock);
  let state: ServerState = 'not started';
  /** For the owner: it may quote the server. */
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
      down(operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error)));
      throw new UserError(sentenceFor(), { cause: error });
    }
  };

  const sentenceFor = () => {
    const again = retryAt === undefined ? '' : ` It is tried again in ${Math.ceil((retryAt - clock.now()) / 1000)} s.`;
    return `The MCP server "${name}" is not running: ${plainly(problem)}.${again}`;
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

/** For members: of which kind the trouble is, in words of the bot's own. */
function plainly(problem = 'it was stopped'): string {
  const kind = /^it (?:was stopped|stopped|took longer than \d+ s to start|cannot be reached any more)/.exec(
    problem,
  )?.[0];
  return kind ?? 'it could not be started';
}

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** Who has run for so long is not in a loop of crashes. */
const STABLE_MS = 60_000;

/** How long to wait before each new start: 1 s, 2 s, 4 s … 5 min, from the beginning again once it has run for a minute. */
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
