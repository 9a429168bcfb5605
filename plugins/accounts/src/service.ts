import {
  type Accounts,
  type Actor,
  type Amount,
  type BudgetLimits,
  type Clock,
  type Decision,
  homeChannelOf,
  type Random,
  type Reservation,
} from '@cinnabar/sdk';
import { createLimitsInForce } from './budget-config.js';
import type { AccountsContext } from './context.js';
import { type Account, enter, enterChannel } from './daily-sums.js';
import { judge, type LimitedAccount, limitedAccounts, strictest } from './limits.js';
import { keepReceipt, knownReceipt, receiptsOf } from './receipts.js';

/** A channel and its threads share one account; receipts are kept where the work was done. */
export function createAccounts({ client, collections: stores, services, settings, log }: AccountsContext): Accounts {
  const { clock, random } = services;
  const limitsInForce = createLimitsInForce(services.configuration, log);
  const limited = async (actor: Actor, limits: BudgetLimits = {}) => {
    const channelId = await homeChannelOf(client, actor.channelId);
    return limitedAccounts(stores, { ...actor, channelId }, strictest(await limitsInForce(actor.guildId), limits));
  };
  return {
    async check(actor, limits) {
      const reasons = [];
      for (const { holder, limit, document } of await limited(actor, limits)) {
        reasons.push(judge(holder, limit, await document.get(), clock.now()));
      }
      return decide(reasons);
    },
    reserve: async (actor, most, limits) => reserve(await limited(actor, limits), most, clock, random),
    async record(receipt) {
      const { guildId, channelId, userId } = receipt.actor;
      const before = await knownReceipt(stores.receipts, receipt);
      const count = (account: Account) => enter(account, receipt, before);
      const homeId = await homeChannelOf(client, channelId);
      await stores.channelAccounts.of(homeId).update((account) => void count(account));
      if (guildId !== null) {
        await stores.memberAccounts.of({ userId, guildId }).update((account) => void count(account));
        await stores.guildAccounts
          .of(guildId)
          .update((account) => enterChannel(account, homeId, receipt.at, count(account)));
      }
      // Last, so that every stored receipt has been counted in all accounts.
      await keepReceipt(stores.receipts, receipt, await settings.global.get());
    },
    receipts: (channelId, mind) => receiptsOf(stores.receipts, channelId, mind),
  };
}

/** A reservation ends by itself after this time: the work has failed without releasing it. */
const HELD_MS = 15 * 60_000;

/** Reserves the amount in each of the accounts, or in none. */
async function reserve(
  limited: readonly LimitedAccount[],
  most: Amount,
  clock: Clock,
  random: Random,
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
      // Two limits may hold for one account; the hold of this work does not count against itself.
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

function decide(reasons: Decision['reasons']): Decision {
  return { allowed: reasons.every(({ allowed }) => allowed), reasons };
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
