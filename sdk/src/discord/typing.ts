import type { SendableChannels } from 'discord.js';
import { sleep } from '../async/sleep.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../observability.js';

/** Discord shows the indicator for 10 s. */
const REFRESH_MS = 8_000;

type Typable = Pick<SendableChannels, 'sendTyping'>;

export interface KeepTypingOptions {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'debug'>;
  /** Ends it, as the returned function does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Shows the bot typing until the returned function is called, which resolves once no request is under way: an indicator that arrives after the
 * message would stay for 10 s. A channel that is gone, or in which the bot cannot type, is only logged.
 * @param channel a function is called before each request
 */
export function keepTyping(
  channel: Typable | (() => Promise<Typable | undefined>),
  { clock, log, signal }: KeepTypingOptions,
): () => Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted === true) end();
  const find = typeof channel === 'function' ? channel : async () => channel;
  const type = async () => {
    try {
      const found = await find();
      if (!ended.signal.aborted) await found?.sendTyping();
    } catch (error) {
      log.debug('typing was not shown', { error });
    }
  };
  const typing = (async () => {
    while (!ended.signal.aborted) {
      await type();
      await sleep(clock, REFRESH_MS, ended.signal);
    }
  })();
  return () => {
    signal?.removeEventListener('abort', end);
    end();
    return typing;
  };
}
