import type { Actor, Clock, Collection, Decision, Document, Random } from '@cinnabar/sdk';
import { type Budget, type Holder, isLimited, judge } from './budgets.js';
import { type Account, accountSchema, enter, enterChannel } from './days.js';
import { keepReceipt, receiptsSchema, type StoredReceipts } from './receipts.js';
import type { Accounts, Amount, BudgetConfig } from './types.js';

/** To be declared among the plugin's collections. */
export const moneyCollections = {
  guildAccounts: { scope: 'guild', version: 1, schema: accountSchema },
  channelAccounts: { scope: 'channel', version: 1, schema: accountSchema },
  memberAccounts: { scope: 'member', version: 1, schema: accountSchema },
  receipts: { scope: 'channel', version: 1, schema: receiptsSchema },
} as const;

export interface MoneyCollections {
  readonly guildAccounts: Collection<Account, 'guild'>;
  readonly channelAccounts: Collection<Account, 'channel'>;
  readonly memberAccounts: Collection<Account, 'member'>;
  readonly receipts: Collection<StoredReceipts, 'channel'>;
}

export interface AccountsParts {
  readonly collections: MoneyCollections;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'id'>;
}

/** A reply that takes longer than this has failed without a word. */
const HELD_MS = 15 * 60_000;

export function createAccounts({ collections, clock, random }: AccountsParts): Accounts {
  const reserve = async (limited: readonly LimitedAccount[], most: Amount) => {
    const hold = { id: random.id(), tokens: most.tokens, usd: most.usd ?? 0, until: clock.now() + HELD_MS };
    const release = async (accounts: readonly LimitedAccount[]) => {
      for (const { document } of accounts) {
        await document.update((account) => {
          account.held = account.held.filter(({ id }) => id !== hold.id);
        });
      }
    };
    const reasons: Decision['reasons'][number][] = [];
    for (const [index, { holder, budget, document }] of limited.entries()) {
      await document.update((account) => {
        const now = clock.now();
        const reason = judge(holder, budget, account, now, most);
        reasons.push(reason);
        account.held = account.held.filter(({ until }) => until > now);
        if (reason.allowed) account.held.push(hold);
      });
      if (reasons.at(-1)?.allowed === true) continue;
      await release(limited.slice(0, index));
      return { decision: decide(reasons), release: async () => undefined };
    }
    return { decision: decide(reasons), release: once(() => release(limited)) };
  };

  return {
    async check(place, config) {
      const reasons = [];
      for (const { holder, budget, document } of limitedAccounts(collections, place, config)) {
        reasons.push(judge(holder, budget, await document.get(), clock.now()));
      }
      return decide(reasons);
    },
    reserve: (place, config, most) => reserve(limitedAccounts(collections, place, config), most),
    async record(receipt) {
      const { guildId, channelId, userId } = receipt;
      await keepReceipt(collections.receipts, receipt);
      await collections.channelAccounts.of(channelId).update((account) => enter(account, receipt));
      if (guildId === null) return;
      await collections.memberAccounts.of({ userId, guildId }).update((account) => enter(account, receipt));
      await collections.guildAccounts.of(guildId).update((account) => {
        enter(account, receipt);
        enterChannel(account, receipt);
      });
    },
  };
}

interface LimitedAccount {
  readonly holder: Holder;
  readonly budget: Budget;
  readonly document: Document<Account>;
}

/** In a direct message the channel is the member's: both budgets hold for it. */
function limitedAccounts(
  { guildAccounts, channelAccounts, memberAccounts }: MoneyCollections,
  { guildId, channelId, userId }: Actor,
  { budgets }: BudgetConfig,
): readonly LimitedAccount[] {
  const channel = channelAccounts.of(channelId);
  const accounts: readonly LimitedAccount[] =
    guildId === null
      ? [
          { holder: 'channel', budget: budgets.channel, document: channel },
          { holder: 'member', budget: budgets.member, document: channel },
        ]
      : [
          { holder: 'guild', budget: budgets.guild, document: guildAccounts.of(guildId) },
          { holder: 'channel', budget: budgets.channel, document: channel },
          { holder: 'member', budget: budgets.member, document: memberAccounts.of({ userId, guildId }) },
        ];
  return accounts.filter(({ budget }) => isLimited(budget));
}

function decide(reasons: Decision['reasons']): Decision {
  return { allowed: reasons.every(({ allowed }) => allowed), reasons };
}

/** The sentence for the person who was refused. */
export function budgetRefusal({ reasons }: Decision): string {
  const denied = reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
  return `I cannot answer at the moment: ${denied.join('; ')}.`;
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
