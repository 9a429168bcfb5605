import type { Accounts, Actor, BudgetLimits } from '@cinnabar/sdk';
import type { AccountStores } from './collections.js';
import { limitedAccounts } from './limited.js';
import type { LimitsInForce } from './limits/in-force.js';
import { judge } from './limits/judge.js';
import { strictest } from './limits/strictest.js';
import { keepReceipt, receiptsOf } from './receipts/store.js';
import { decide, type ReserveParts, reserve } from './reserve.js';
import { enter, enterChannel } from './sums/days.js';
import { usedBy } from './sums/used.js';

export interface AccountsParts extends ReserveParts {
  readonly stores: AccountStores;
  readonly limitsInForce: LimitsInForce;
}

export function createAccounts({ stores, limitsInForce, clock, random }: AccountsParts): Accounts {
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
      const used = usedBy(receipt, await keepReceipt(stores.receipts, receipt));
      await stores.channelAccounts.of(channelId).update((account) => enter(account, receipt, used));
      if (guildId === null) return;
      await stores.memberAccounts.of({ userId, guildId }).update((account) => enter(account, receipt, used));
      await stores.guildAccounts.of(guildId).update((account) => {
        enter(account, receipt, used);
        enterChannel(account, receipt, used);
      });
    },
    receipts: (channelId, mind) => receiptsOf(stores.receipts, channelId, mind),
  };
}
