import type { Amount, Clock, Decision, Random, Reservation } from '@cinnabar/sdk';
import type { LimitedAccount } from './limited.js';
import { judge } from './limits/judge.js';

/** Work that takes longer than this has failed without a word. */
const HELD_MS = 15 * 60_000;

export interface ReserveParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'id'>;
}

/** Holds room in each of the accounts, or in none. */
export async function reserve(
  limited: readonly LimitedAccount[],
  most: Amount,
  { clock, random }: ReserveParts,
): Promise<Reservation> {
  const hold = { id: random.id(), tokens: most.tokens, usd: most.usd ?? 0, until: clock.now() + HELD_MS };
  const release = async (accounts: readonly LimitedAccount[]) => {
    for (const { document } of accounts) {
      await document.update((account) => {
        account.held = account.held.filter(({ id }) => id !== hold.id);
      });
    }
  };
  const reasons: Decision['reasons'][number][] = [];
  for (const [index, { holder, limit, document }] of limited.entries()) {
    await document.update((account) => {
      const now = clock.now();
      // Two limits may hold for one account; what is held for this work does not stand in its own way.
      account.held = account.held.filter(({ id, until }) => until > now && id !== hold.id);
      const reason = judge(holder, limit, account, now, most);
      reasons.push(reason);
      if (reason.allowed) account.held.push(hold);
    });
    if (reasons.at(-1)?.allowed === true) continue;
    await release(limited.slice(0, index));
    return { decision: decide(reasons), release: async () => undefined };
  }
  return { decision: decide(reasons), release: once(() => release(limited)) };
}

export function decide(reasons: Decision['reasons']): Decision {
  return { allowed: reasons.every(({ allowed }) => allowed), reasons };
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
