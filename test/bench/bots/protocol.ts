/** How the bench talks to the bots that it measures, over Node's IPC channel. */
export type Question = 'usage' | 'stop';

export interface Usage {
  /** User and system time of the whole process, in microseconds. */
  readonly cpuUs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}
export type Answer = { readonly ready: true } | { readonly usage: Usage };

/** What a bot is told on its command line. */
export interface BotArguments {
  readonly api: string;
  readonly token: string;
  /** A folder of its own for data. */
  readonly dataDir: string;
}

export function readArguments(): BotArguments {
  const [api = '', token = '', dataDir = ''] = process.argv.slice(2);
  return { api, token, dataDir };
}

/** Tells the bench that the bot is ready, and answers its questions from then on. */
export function serve(stop: () => Promise<unknown>): void {
  const answer = (message: Answer) => process.send?.(message);
  process.on('message', (question: Question) => {
    if (question === 'stop') {
      process.disconnect();
      void stop();
      return;
    }
    globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const { heapUsed, rss } = process.memoryUsage();
    answer({ usage: { cpuUs: user + system, heapBytes: heapUsed, rssBytes: rss } });
  });
  answer({ ready: true });
}
