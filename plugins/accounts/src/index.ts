import { Access, Accounts, Clock, Configuration, definePlugin, MessageOrigins, Random, TIERS, z } from '@cinnabar/sdk';
import { collections } from './collections.js';
import { createLimitsInForce } from './limits/in-force.js';
import { budgetsConfiguration } from './limits/schema.js';
import { exportReceipts, forgetReceipts } from './receipts/store.js';
import { createAccounts } from './service.js';
import { registerCommands } from './telling/commands.js';

export default definePlugin({
  manifest: {
    id: 'accounts',
    version: '1.0.0',
    description: 'What answers cost: receipts, sums and budgets',
    host: '^0.1.0',
    administrative: true,
  },
  settings: {
    global: z.object({
      receipts: z
        .number()
        .int()
        .min(1)
        .max(1_000)
        .default(50)
        .describe('How many receipts are kept of each mind in a channel'),
      receiptDays: z.number().int().min(1).max(3_650).default(31).describe('How many days receipts are kept'),
    }),
  },
  configuration: budgetsConfiguration,
  collections,
  inject: { access: Access, clock: Clock, configuration: Configuration, origins: MessageOrigins, random: Random },
  provides: [Accounts],
  setup(context) {
    const { client, collections: stores, services, provide, personalData, log } = context;
    const { access, clock, configuration, origins, random } = services;
    const limitsInForce = createLimitsInForce(configuration, log);
    provide(
      Accounts,
      createAccounts({ stores, limitsInForce, client, kept: () => context.settings.global.get(), clock, random }),
    );
    registerCommands(context, {
      client,
      stores,
      clock,
      origins,
      isModerator: async (actor) => TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod'),
    });
    personalData({
      stays: ['how many tokens and how much money a server has used on a day, which counts nobody’s words'],
      export: (userId) => exportReceipts(stores.receipts, userId),
      forget: (userId) => forgetReceipts(stores.receipts, userId),
    });
  },
});
