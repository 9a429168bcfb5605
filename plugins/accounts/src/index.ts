import { Accounts, definePlugin } from '@cinnabar/sdk';
import { registerBudgetCommands } from './budget-commands.js';
import { registerBudgetPages } from './budget-pages.js';
import { budgetsConfiguration, createLimitsInForce } from './budgets.js';
import { registerCommands } from './commands.js';
import { budgetsOfFile, createBudgetEditor } from './guild-budgets.js';
import { registerPages } from './pages.js';
import { createPromptStore } from './prompts.js';
import { sweepAccounts, sweepReceipts } from './receipts.js';
import { collections, createAccounts, inject, settings } from './service.js';

/** Interval at which expired receipts are removed. */
const SWEEP_MS = 6 * 60 * 60_000;
/** Interval at which prompts are removed: a prompt may exceed its retention by this time. */
const PROMPT_SWEEP_MS = 15 * 60_000;

export default definePlugin({
  manifest: {
    id: 'accounts',
    version: '1.0.0',
    description: 'Costs of answers: receipts, totals and budgets',
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
    const { every, personalData, provide, services, settingsChanged } = context;
    const ofFiles = createLimitsInForce(context.services.configuration, context.log);
    const prompts = createPromptStore({
      ...services,
      stores: context.collections,
      retention: context.settings.global.get,
      log: context.log,
    });
    provide(Accounts, createAccounts(context, ofFiles, prompts));
    registerCommands(context);
    const budgets = createBudgetEditor(context, ofFiles);
    registerBudgetCommands(context, budgets);
    registerPages(context, prompts);
    registerBudgetPages(context, budgets, ofFiles);
    every(SWEEP_MS, async () => {
      const { clock } = services;
      const { channelAccounts, guildAccounts, memberAccounts, receipts } = context.collections;
      await sweepReceipts(receipts, clock.now(), await context.settings.global.get());
      for (const accounts of [channelAccounts, guildAccounts])
        await sweepAccounts(accounts.entries(), accounts.of, clock.now());
      const memberOf = (key: string) => {
        const [guildId = '', userId = ''] = key.split(':');
        return memberAccounts.of({ guildId, userId });
      };
      await sweepAccounts(memberAccounts.entries(), memberOf, clock.now());
    });
    settingsChanged(prompts.sweep);
    every(PROMPT_SWEEP_MS, prompts.sweep);
    personalData({
      // All prompts are deleted, since the members whose messages they contain are not known.
      forget: prompts.clear,
      stays: ['how many tokens and how much money a server has used on a day, which counts nobody’s words'],
    });
  },
});
