import { type Accounts, type Actor, type BudgetLimits, homeChannelOf } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
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
  readonly client: Pick<Client, 'channels'>;
  /** How many receipts are kept. */
  readonly kept: () => Promise<Kept>;
}

/** A channel and its threads share one account; receipts are kept where the work was done. */
export function createAccounts({ stores, limitsInForce, client, kept, clock, random }: AccountsParts): Accounts {
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
    reserve: async (actor, most, limits) => reserve(await limited(actor, limits), most, { clock, random }),
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
      // Last: a receipt that is there has been counted everywhere.
      await keepReceipt(stores.receipts, receipt, await kept());
    },
    receipts: (channelId, mind) => receiptsOf(stores.receipts, channelId, mind),
  };
}
