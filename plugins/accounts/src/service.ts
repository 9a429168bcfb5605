import {
  Access,
  type Accounts,
  type Actor,
  type Amount,
  type BudgetLimits,
  Clock,
  type Collections,
  Commands,
  Configuration,
  type DayLimit,
  type Decision,
  HostInfo,
  homeChannelOf,
  MessageDecisions,
  MessageOrigins,
  type PluginContext,
  Plugins,
  Prefixes,
  Random,
  Redaction,
  type Reservation,
  z,
} from '@cinnabar/sdk';
import { judge, type LimitedAccount, type LimitsInForce, limitedAccounts, strictest } from './budgets.js';
import { createBudgetRemedies, createGuildLimits, guildBudgetsSchema } from './guild-budgets.js';
import { type PromptStore, promptCollections, promptSettings } from './prompts.js';
import {
  type Account,
  accountSchema,
  enter,
  enterChannel,
  enterShares,
  guildAccountSchema,
  keepReceipt,
  knownReceipt,
  receiptsOf,
  receiptsSchema,
} from './receipts.js';

export const settings = {
  global: z.object({
    receipts: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(50)
      .describe('How many receipts are kept of each responder in a channel'),
    receiptDays: z.number().int().min(1).max(3_650).default(31).describe('How many days receipts are kept'),
    ...promptSettings,
  }),
};

export const collections = {
  guildAccounts: { scope: 'guild', version: 1, schema: guildAccountSchema, personal: { each: 'shares', by: 'userId' } },
  channelAccounts: { scope: 'channel', version: 1, schema: accountSchema },
  memberAccounts: { scope: 'member', version: 1, schema: accountSchema },
  guildBudgets: { scope: 'guild', version: 1, schema: guildBudgetsSchema },
  receipts: {
    scope: 'channel',
    version: 1,
    schema: receiptsSchema,
    personal: { each: 'receipts', by: 'actor.userId' },
  },
  ...promptCollections,
} as const;

export type AccountStores = Collections<typeof collections>;

export const inject = {
  access: Access,
  clock: Clock,
  commands: Commands,
  configuration: Configuration,
  decisions: MessageDecisions,
  host: HostInfo,
  origins: MessageOrigins,
  plugins: Plugins,
  prefixes: Prefixes,
  random: Random,
  redaction: Redaction,
};

export type AccountsContext = PluginContext<typeof settings, typeof collections, typeof inject>;

/** A channel and its threads share one account; receipts are stored in the channel or thread of the work. */
export function createAccounts(
  context: AccountsContext,
  ofFiles: LimitsInForce,
  prompts: Pick<PromptStore, 'keep'>,
): Accounts {
  const { client, collections: stores, services, settings } = context;
  const { clock, random } = services;
  const limitsInForce = createGuildLimits(context, ofFiles);
  const remedyFor = createBudgetRemedies(context, ofFiles);
  const limited = async (actor: Actor, limits: BudgetLimits = {}) => {
    const channelId = await homeChannelOf(client, actor.channelId);
    return limitedAccounts(stores, { ...actor, channelId }, strictest(await limitsInForce(actor), limits));
  };
  return {
    async check(actor, limits, most) {
      const reasons = [];
      for (const { holder, limit, document } of await limited(actor, limits)) {
        const account = await document.get();
        const reason = judge(holder, limit, account, clock.now(), most);
        const isRefusedBy = (layer: DayLimit) => !judge(holder, layer, account, clock.now(), most).allowed;
        reasons.push(reason.allowed ? reason : { ...reason, remedy: await remedyFor(actor, holder, isRefusedBy) });
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
        await stores.guildAccounts.of(guildId).update((account) => {
          const added = count(account);
          enterChannel(account, homeId, receipt.at, added);
          enterShares(account, receipt, added);
        });
      }
      // Stored last, so that every stored receipt is counted in all accounts.
      await keepReceipt(stores.receipts, receipt, await settings.global.get());
    },
    keepRequest: prompts.keep,
    receipts: (channelId, mind) => receiptsOf(stores.receipts, channelId, mind),
  };
}

/** Lifetime of a reservation that is never released, because its work has failed. */
const HELD_MS = 15 * 60_000;

/** Reserves the amount in all accounts, or in none. */
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
      // The same account may have two limits: its own reservation must not count against the second one.
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
