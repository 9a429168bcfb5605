import { rm } from 'node:fs/promises';
import {
  Access,
  Accounts,
  attachmentDownloads,
  ChannelContexts,
  Clock,
  Commands,
  Configuration,
  definePlugin,
  Files,
  FrontDoor,
  Ledger,
  Llm,
  MessageOrigins,
  OwnerNotices,
  optional,
  Prefixes,
  Provenance,
  Random,
  SettingsCatalog,
  ToolHistory,
  Tools,
} from '@cinnabar/sdk';
import { createChatConfig } from './config/chat-config.js';
import { cacheSettings, guildSettings, historyLimitsOf, imageLimitsOf } from './config/guild-settings.js';
import { botConfigSchema } from './config/schema.js';
import { buildContext } from './context/build.js';
import { createChannelHistory, HISTORY_INTENTS } from './history/channel-history.js';
import { createImages } from './history/images.js';
import { createTextFiles } from './history/text-files.js';
import { listenForMore, openRuleBook, pinnedRules } from './loop/activation/activation.js';
import { createChannelContexts } from './loop/channel-contexts.js';
import { createConfigSource } from './loop/config-source.js';
import { tellRefusedHistory } from './loop/history-refusals.js';
import { registerMCommand } from './loop/m-command.js';
import { createMemoryStore, memories } from './loop/memory-store.js';
import { exportOldReceipts, forgetOldReceipts, handOver, oldReceipts } from './loop/old-receipts.js';
import { renderPrompt, respond } from './loop/respond.js';
import { createAdvisor, createPrefillNotices, statusLines } from './loop/status.js';
import { exportCalls, forgetCalls, heldCalls } from './loop/tools/records.js';
import { createToolOutput } from './loop/tools/visible-output.js';

export default definePlugin({
  manifest: {
    id: 'chat',
    version: '1.2.0',
    description: 'The default mind: reads the channel, uses tools for the member who asks, answers',
    host: '^0.1.0',
    intents: [...HISTORY_INTENTS],
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'],
    administrative: true,
  },
  settings: { guild: guildSettings, global: cacheSettings },
  configuration: botConfigSchema,
  collections: { calls: heldCalls, memories, pinnedRules, receipts: oldReceipts },
  inject: {
    access: Access,
    catalog: SettingsCatalog,
    accounts: optional(Accounts),
    clock: Clock,
    commands: Commands,
    configuration: Configuration,
    files: Files,
    frontDoor: optional(FrontDoor),
    ledger: Ledger,
    llm: optional(Llm),
    notices: OwnerNotices,
    prefixes: Prefixes,
    provenance: Provenance,
    random: Random,
    toolHistory: optional(ToolHistory),
    origins: MessageOrigins,
    tools: Tools,
  },
  provides: [ChannelContexts],
  async setup(context) {
    const { responder, defer, on, personalData, provide, client, settings, collections, services, log, signal } =
      context;
    const { access, accounts, clock, commands, configuration, files, frontDoor, random } = services;
    const { calls } = collections;
    const caches = await settings.global.get();
    const history = createChannelHistory({ on, client, access, clock, log, limits: historyLimitsOf(caches) });
    const chatConfig = createChatConfig({
      configuration,
      settingsOf: (guildId) => settings.guild(guildId).get(),
      log,
    });
    const config = createConfigSource({ chatConfig, history, configuration, client });
    const downloads = { ...attachmentDownloads(client, { clock, log, signal }), log };
    const images = createImages({
      async folder() {
        // Where an earlier version kept them.
        await rm(await files.folder('images'), { recursive: true, force: true });
        return files.cacheFolder('images');
      },
      limits: imageLimitsOf(caches),
      ...downloads,
    });
    const textFiles = createTextFiles(downloads);
    const parts = {
      ...services,
      config,
      history,
      images,
      textFiles,
      buildContext,
      memories: createMemoryStore(collections.memories),
      calls,
      tellPrefill: createPrefillNotices(services.notices),
      toolOutput: createToolOutput(log),
      log,
      signal,
    };
    responder({
      name: 'chat',
      description: 'Reads the latest messages of the channel, uses tools, answers',
      batches: true,
      maxWaiting: async ({ channel }) => (await config.forChannel(channel)).config.maxQueuedReplies,
      status: ({ channel }) => statusLines(channel, config, services.llm),
      prompt: (turn) => renderPrompt(turn, parts),
      respond: (turn) => respond(turn, parts),
    });
    provide(ChannelContexts, createChannelContexts({ ...parts, client }));
    defer(services.catalog.advise('chat', createAdvisor(config, client)));
    registerMCommand(context, { access, accounts, frontDoor, history, prefixes: services.prefixes });
    if (accounts !== undefined) await handOver(collections.receipts, accounts);
    if (frontDoor !== undefined) {
      const rules = await openRuleBook({ config, pinned: collections.pinnedRules, client, clock });
      listenForMore({ on, defer, client, rules, frontDoor, commands, random, clock, log });
      tellRefusedHistory({ on, history, config, frontDoor, clock, log });
    }
    personalData({
      export: async (userId) => ({
        calls: await exportCalls(calls, userId),
        receipts: await exportOldReceipts(collections.receipts, userId),
      }),
      async forget(userId) {
        await forgetCalls(calls, userId);
        await parts.memories.forget(userId);
        // The cache does not know whose image is whose.
        await images.clear();
        textFiles.clear();
        await forgetOldReceipts(collections.receipts, userId);
      },
    });
  },
});
