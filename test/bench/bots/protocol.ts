import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How the bench talks to the bots that it measures, over Node's IPC channel. A bot stops when the channel closes, whoever closed it. */
export type Question = 'cpu' | 'memory';

export interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
}
export type Answer =
  /** User and system time of the whole process so far, its other threads included. Said once without being asked: when ready. */
  | { readonly cpuUs: number }
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

/** Tells the bench that the bot is ready, and answers its questions from then on. */
export function serve(stop: () => unknown): void {
  answerQuestions(stop);
  process.send?.({ cpuUs: cpuUs() } satisfies Answer);
}

/** Answers the bench's questions until it goes, then stops. */
export function answerQuestions(stop: () => unknown): void {
  process.on('message', (question: Question) => {
    process.send?.((question === 'cpu' ? { cpuUs: cpuUs() } : { memory: memory() }) satisfies Answer);
  });
  process.once('disconnect', () => void stop());
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function memory(): Memory {
  // Not by a flag of the command line: V8 would refuse code that was compiled without it.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}
