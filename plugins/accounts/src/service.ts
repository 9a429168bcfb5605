import type { Accounts, Actor, BudgetLimits } from '@cinnabar/sdk';
import type { AccountStores } from './collections.js';
import { limitedAccounts } from './limited.js';
import type { LimitsInForce } from './limits/in-force.js';
import { judge } from './limits/judge.js';
import { strictest } from './limits/strictest.js';
import { type Kept, keepReceipt, knownReceipt, receiptsOf } from './receipts/store.js';
import { decide, type ReserveParts, reserve } from './reserve.js';
import { type Account, enter, enterChannel } from './sums/days.js';

export interface AccountsParts extends ReserveParts {
  readonly stores: AccountStores;
  readonly limitsInForce: LimitsInForce;
  /** How many receipts are kept. */
  readonly kept: () => Promise<Kept>;
}

export function createAccounts({ stores, limitsInForce, kept, clock, random }: AccountsParts): Accounts {
  const limited = async (actor: Actor, limits: BudgetLimits = {}) =>
    limitedAccounts(stores, actor, strictest(await limitsInForce(actor.guildId), limits));
  return {
    async check(actor, limits) {
      const reasons = [];
      for (const { holder, limit, document } of await limited(actor, limits)) {
        reasons.push(judge(holder, limit, await document.get(), clock.now()));
      }
      return decide(reasons);
    },
    reserve: async (actor, most, limits) => reserve(await limited(actor, limits), most, { clock, random }),
    async record(receipt) {
      const { guildId, channelId, userId } = receipt.actor;
      const before = await knownReceipt(stores.receipts, receipt);
      const count = (account: Account) => enter(account, receipt, before);
      await stores.channelAccounts.of(channelId).update((account) => void count(account));
      if (guildId !== null) {
        await stores.memberAccounts.of({ userId, guildId }).update((account) => void count(account));
        await stores.guildAccounts.of(guildId).update((account) => enterChannel(account, receipt, count(account)));
      }
      // Last: a receipt that is there has been counted everywhere.
      await keepReceipt(stores.receipts, receipt, await kept());
    },
    receipts: (channelId, mind) => receiptsOf(stores.receipts, channelId, mind),
  };
}
