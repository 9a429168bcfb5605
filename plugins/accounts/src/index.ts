import { Accounts, definePlugin } from '@cinnabar/sdk';
import { budgetsConfiguration, createLimitsInForce } from './budgets.js';
import { registerCommands } from './commands.js';
import { budgetsOfFile, registerBudgetCommands } from './guild-budgets.js';
import { registerPages } from './pages.js';
import { collections, createAccounts, inject, settings } from './service.js';

export default definePlugin({
  manifest: {
    id: 'accounts',
    version: '1.0.0',
    description: 'What answers cost: receipts, sums and budgets',
    host: '^0.1.0',
    administrative: true,
  },
  settings,
  configuration: budgetsConfiguration,
  collections,
  inject,
  provides: [Accounts],
  guildFile: budgetsOfFile,
  setup(context) {
    const { provide, personalData } = context;
    const ofFiles = createLimitsInForce(context.services.configuration, context.log);
    provide(Accounts, createAccounts(context, ofFiles));
    registerCommands(context);
    registerBudgetCommands(context, ofFiles);
    registerPages(context);
    personalData({
      stays: ['how many tokens and how much money a server has used on a day, which counts nobody’s words'],
    });
  },
});
