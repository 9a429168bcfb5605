import type { Logger, SettledOutcome } from '@cinnabar/sdk';
import type { WaitingCard } from '../waiting/card.js';
import type { Expiry } from '../waiting/expiry.js';

/** Takes a card back as soon as its call is not wanted any more: the task was stopped, whoever asked has gone. */
export function withdrawOnAbort(
  { expiry, log }: { readonly expiry: Expiry; readonly log: Logger },
  card: WaitingCard,
  settled: Promise<SettledOutcome>,
): void {
  const { signal } = card.request.call;
  const withdraw = () => {
    expiry.expire(card, 'withdrawn').catch((error: unknown) => {
      log.error('a card could not be withdrawn', { callId: card.callId, error });
    });
  };
  if (signal.aborted) {
    withdraw();
    return;
  }
  signal.addEventListener('abort', withdraw, { once: true });
  // A task outlives many cards: none of them may stay hooked to it.
  void settled.finally(() => signal.removeEventListener('abort', withdraw));
}
