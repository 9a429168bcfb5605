import type { Clock } from '@cinnabar/sdk';
import type { Board } from '../waiting/board.js';
import type { Expiry } from '../waiting/expiry.js';

/** A stop must not wait for Discord's rate limits: what is not marked by then is marked at the next start. */
const PATIENCE_MS = 3_000;

/** Ends everything that waits: first none of it can run any more, then the cards say so. */
export async function stopWaiting({ board, expiry, clock }: { board: Board; expiry: Expiry; clock: Clock }) {
  const open = [...board.all()];
  const ended = Promise.allSettled(open.map((card) => expiry.expire(card, 'restarted')));
  let cancel: () => void = () => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = clock.after(PATIENCE_MS, resolve);
  });
  await Promise.race([ended, patience]);
  cancel();
}
