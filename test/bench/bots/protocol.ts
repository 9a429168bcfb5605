import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The messages between the bench and the measured bots, over Node's IPC channel. A bot stops when the channel closes. */
export type Question = 'cpu' | 'memory';

export interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
}
export type Answer =
  /** User and system time of the whole process so far, including its other threads. Also sent once when the bot is ready. */
  | { readonly cpuUs: number }
  /** Measured after a garbage collection. */
  | { readonly memory: Memory };

/** The arguments of a bot's process. */
interface BotArguments {
  readonly api: string;
  readonly token: string;
  /** Folder for its data. */
  readonly dataDir: string;
  /** Additional variables of its environment. */
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

/** Reports that the bot is ready, and answers the bench's requests from then on. */
export function serve(stop: () => unknown): void {
  answerQuestions(stop);
  process.send?.({ cpuUs: cpuUs() } satisfies Answer);
}

/** Answers the bench's requests until the channel closes, then stops. */
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
  // Set at run time: with a command-line flag, V8 would refuse code that was compiled without it.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}
