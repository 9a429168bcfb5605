import {
  Access,
  Clock,
  Commands,
  Configuration,
  definePlugin,
  Files,
  FrontDoor,
  Ledger,
  Llm,
  optional,
  Prefixes,
  Random,
  TIERS,
  ToolHistory,
  Tools,
} from '@cinnabar/sdk';
import { createChatConfig } from './config/chat-config.js';
import { guildSettings } from './config/guild-settings.js';
import { botConfigSchema } from './config/schema.js';
import { buildContext } from './context/build.js';
import { createChannelHistory, HISTORY_INTENTS } from './history/channel-history.js';
import { discordAddresses } from './history/images/addresses.js';
import { createImages } from './history/images/images.js';
import { listenForMore } from './loop/activation/listen.js';
import { openRuleBook, pinnedRules } from './loop/activation/rules.js';
import { createConfigSource } from './loop/config-source.js';
import { registerMCommand } from './loop/m-command.js';
import { createMemoryStore, memories } from './loop/memory-store.js';
import { respond } from './loop/respond.js';
import { exportCalls, forgetCalls, heldCalls } from './loop/tools/held-calls.js';
import { createToolOutput } from './loop/tools/visible-output.js';
import { createAccounts, moneyCollections } from './money/accounts.js';
import { registerMoneyCommands } from './money/commands.js';
import { exportReceipts, forgetReceipts } from './money/receipts.js';

export default definePlugin({
  manifest: {
    id: 'chat',
    version: '1.1.0',
    description: 'The default mind: reads the channel, uses tools for the member who asks, answers',
    host: '^0.1.0',
    intents: [...HISTORY_INTENTS],
    permissions: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'],
  },
  settings: { guild: guildSettings },
  configuration: botConfigSchema,
  collections: { calls: heldCalls, memories, pinnedRules, ...moneyCollections },
  inject: {
    access: Access,
    clock: Clock,
    commands: Commands,
    configuration: Configuration,
    files: Files,
    frontDoor: optional(FrontDoor),
    ledger: Ledger,
    llm: optional(Llm),
    prefixes: Prefixes,
    random: Random,
    toolHistory: optional(ToolHistory),
    tools: Tools,
  },
  async setup(context) {
    const { responder, on, personalData, client, settings, collections, services, log, signal } = context;
    const { access, clock, commands, configuration, files, frontDoor, random } = services;
    const { calls } = collections;
    const history = createChannelHistory({ on, client, clock, log });
    const chatConfig = createChatConfig({
      configuration,
      settingsOf: (guildId) => settings.guild(guildId).get(),
      log,
    });
    const config = createConfigSource({ chatConfig, history, configuration, client });
    const images = createImages({
      folder: () => files.folder('images'),
      clock,
      log,
      mayFetch: discordAddresses(client.options.rest?.api),
      signal,
    });
    const parts = {
      ...services,
      config,
      history,
      images,
      accounts: createAccounts({ collections, clock, random }),
      buildContext,
      memories: createMemoryStore(collections.memories),
      calls,
      toolOutput: createToolOutput(client, log),
      log,
      signal,
    };
    responder({
      name: 'chat',
      description: 'Reads the latest messages of the channel, uses tools, answers',
      batches: true,
      maxWaiting: async ({ channel }) => (await config.forChannel(channel)).config.maxQueuedReplies,
      respond: (turn) => respond(turn, parts),
    });
    registerMoneyCommands(context, {
      collections,
      clock,
      isModerator: async (actor) => TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod'),
    });
    registerMCommand(context, { access, frontDoor, history, receipts: collections.receipts });
    if (frontDoor !== undefined) {
      const rules = await openRuleBook({ config, pinned: collections.pinnedRules, client, clock });
      listenForMore({ on, client, rules, frontDoor, commands, random });
    }
    personalData({
      export: async (userId) => ({
        calls: await exportCalls(calls, userId),
        receipts: await exportReceipts(collections.receipts, userId),
      }),
      async forget(userId) {
        await forgetCalls(calls, userId);
        await forgetReceipts(collections.receipts, userId);
      },
    });
  },
});
