import { constants } from 'node:os';

/** What ends the bot: Ctrl-C, a service manager, a terminal that goes away. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit code after a second signal. */
export const HURRIED = 128 + constants.signals.SIGINT;

export interface StopRequests {
  /** Resolves at the first signal, or request. */
  readonly first: Promise<StopSignal>;
  /** As a signal does it; the second one, of either kind, ends the process at once. */
  request(signal: StopSignal): void;
}

/**
 * Listens to the signals that end the bot. The first one begins the stop; the second one ends the process at once, for people who cannot wait.
 * @param say gets a sentence for the terminal
 */
export function listenToSignals(
  process: NodeJS.Process,
  say: (sentence: string) => void = () => undefined,
): StopRequests {
  let resolveFirst: (signal: StopSignal) => void = () => undefined;
  let isAsked = false;
  const first = new Promise<StopSignal>((resolve) => {
    resolveFirst = resolve;
  });
  const request = (signal: StopSignal) => {
    if (isAsked) {
      say(`${signal}: ended at once.`);
      process.exit(HURRIED);
    }
    isAsked = true;
    say(`${signal}: stopping, which may take up to 15 s; a second signal ends it at once.`);
    resolveFirst(signal);
  };
  // The listeners stay: between taking one off and putting another on, a signal would be lost.
  for (const signal of STOP_SIGNALS) process.on(signal, request);
  return { first, request };
}
