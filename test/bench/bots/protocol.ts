/** How the bench talks to the bots that it measures, over Node's IPC channel. A bot stops when the channel closes, whoever closed it. */
export type Question = 'cpu' | 'memory';

export interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
}
export type Answer =
  /** User and system time of the whole process so far, its other threads included. Said once without being asked: when ready. */
  | { readonly cpuUs: number; readonly sinceLoadedMs: number }
  /** After a garbage collection. */
  | { readonly memory: Memory };

/** What a bot is told on its command line. */
export interface BotArguments {
  readonly api: string;
  readonly token: string;
  /** A folder of its own for data. */
  readonly dataDir: string;
  /** More variables of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

export function readArguments(): BotArguments {
  const [api = '', token = '', dataDir = '', ...variables] = process.argv.slice(2);
  const env = Object.fromEntries(variables.map((variable) => splitOnce(variable, '=')));
  return { api, token, dataDir, env };
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * Tells the bench that the bot is ready, and answers its questions from then on.
 * @param loadedAt `performance.now()` when the bot's modules had been loaded
 */
export function serve(stop: () => Promise<unknown>, loadedAt: number): void {
  const sinceLoadedMs = performance.now() - loadedAt;
  const answer = (message: Answer) => process.send?.(message);
  process.on('message', (question: Question) =>
    answer(question === 'cpu' ? { cpuUs: cpuUs(), sinceLoadedMs } : { memory: memory() }),
  );
  process.once('disconnect', () => void stop());
  answer({ cpuUs: cpuUs(), sinceLoadedMs });
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}
