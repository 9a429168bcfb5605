import { DEFAULT_CONFIG } from '@cinnabar/plugin-chat/config/schema';
import { createAccounts, moneyCollections } from '@cinnabar/plugin-chat/money/accounts';
import { registerMoneyCommands } from '@cinnabar/plugin-chat/money/commands';
import type { Receipt } from '@cinnabar/plugin-chat/money/receipt';
import { exportReceipts, forgetReceipts } from '@cinnabar/plugin-chat/money/receipts';
import type { Accounts, BudgetConfig } from '@cinnabar/plugin-chat/money/types';
import { Access, Clock, definePlugin, type Plugin, Random } from '@cinnabar/sdk';

/** The accounts in a plugin of their own, on the real storage, with the real commands. */
export function createTill(): { readonly plugin: Plugin; readonly accounts: Accounts } {
  let open: Accounts | undefined;
  const plugin = definePlugin({
    manifest: { id: 'till', version: '1.0.0', description: 'Accounts' },
    collections: moneyCollections,
    inject: { access: Access, clock: Clock, random: Random },
    setup({ command, collections, services: { access, clock, random }, personalData }) {
      open = createAccounts({ collections, clock, random });
      registerMoneyCommands(
        { command },
        { collections, clock, isModerator: async (actor) => (await access.tierOf(actor)) !== 'everyone' },
      );
      personalData({
        export: (userId) => exportReceipts(collections.receipts, userId),
        forget: (userId) => forgetReceipts(collections.receipts, userId),
      });
    },
  });
  const accounts = (): Accounts => {
    if (open === undefined) throw new Error('not started');
    return open;
  };
  return {
    plugin,
    accounts: {
      check: (...given) => accounts().check(...given),
      reserve: (...given) => accounts().reserve(...given),
      record: (...given) => accounts().record(...given),
    },
  };
}

export function budgets(given: Partial<BudgetConfig['budgets']>): BudgetConfig {
  return { budgets: { ...DEFAULT_CONFIG.budgets, ...given } };
}

export function receipt(given: Partial<Receipt> & Pick<Receipt, 'channelId' | 'guildId' | 'userId' | 'at'>): Receipt {
  return {
    id: '1',
    messageIds: ['500'],
    trigger: 'mention',
    model: 'claude-x',
    provider: 'anthropic',
    mode: 'chat',
    usage: {
      inputTokens: 100,
      outputTokens: 50,
      cacheCreationTokens: 30,
      cacheReadTokens: 820,
      cacheCreation1hTokens: 10,
    },
    calls: 2,
    cost: 0.0123,
    facts: {
      messages: 42,
      hidden: 3,
      images: 1,
      estimatedTokens: 950,
      rolled: false,
      breakpoints: [],
      plan: 'asked about every 20 s: kept for 5 minutes',
      expectedReadTokens: 800,
    },
    tools: [{ name: 'roll_dice', outcome: 'done' }],
    ...given,
  };
}
