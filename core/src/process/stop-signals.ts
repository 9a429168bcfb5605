/** What ends the bot: Ctrl-C, a service manager, a terminal that goes away. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** A signal at a time on a clock that nobody sets, in milliseconds. */
export interface Received {
  readonly signal: StopSignal;
  readonly at: number;
}

/** At Ctrl-C under `npm start`, the terminal and npm each send one. */
const TOGETHER_MS = 500;

/** Whether two are one and the same request. */
export function isRepeated(earlier: Received, later: Received): boolean {
  return earlier.signal === later.signal && later.at - earlier.at < TOGETHER_MS;
}
