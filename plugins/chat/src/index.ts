import { rm } from 'node:fs/promises';
import { attachmentDownloads, ChannelContexts, definePlugin, modelFindings } from '@cinnabar/sdk';
import { createChatConfig, createConfigSource } from './config/chat-config.js';
import { cacheSettings, guildSettings, historyLimitsOf, imageLimitsOf } from './config/guild-settings.js';
import { botConfigSchema } from './config/keys.js';
import { createImages, createTextFiles } from './history/attachment-cache.js';
import { createChannelHistory, HISTORY_INTENTS } from './history/channel-history.js';
import { tellRefusedHistory } from './history/history-command.js';
import { listenForMore } from './loop/activation.js';
import { createChannelContexts, registerContextPage } from './loop/context-page.js';
import { registerMCommand } from './loop/m-command.js';
import { renderPrompt, respond } from './loop/respond.js';
import { createAdvisor, createPrefillNotices, statusLines } from './loop/status.js';
import { type ChatServices, collections, inject } from './plugin-context.js';

export default definePlugin({
  manifest: {
    id: 'chat',
    version: '1.2.0',
    description: 'The default responder: reads the channel, uses tools for the member who asks, answers',
    host: '^0.1.0',
    intents: [...HISTORY_INTENTS],
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'],
    administrative: true,
  },
  settings: { guild: guildSettings, global: cacheSettings },
  configuration: botConfigSchema,
  collections,
  inject,
  provides: [ChannelContexts],
  async setup(context) {
    const { services, settings, collections, client, on, defer, whySilent, log, signal } = context;
    const { configuration, files, frontDoor } = services;
    const caches = await settings.global.get();
    const history = createChannelHistory({ ...services, on, client, log, limits: historyLimitsOf(caches) });
    const settingsOf = (guildId: string) => settings.guild(guildId).get();
    const chatConfig = createChatConfig({ configuration, settingsOf, log });
    const config = createConfigSource(chatConfig, history, configuration, client);
    const downloads = { ...attachmentDownloads(client, { clock: services.clock, log, signal }), log };
    const images = createImages({
      async folder() {
        // Deletes the folder of an earlier version.
        await rm(await files.folder('images'), { recursive: true, force: true });
        return files.cacheFolder('images');
      },
      limits: imageLimitsOf(caches),
      ...downloads,
    });
    const textFiles = createTextFiles(downloads);
    const tellPrefill = createPrefillNotices(services.notices);
    const own = { config, history, images, textFiles, tellPrefill };
    const parts: ChatServices = { ...services, ...own, collections, client, on, defer, whySilent, log, signal };
    context.responder({
      name: 'chat',
      description: 'Reads the latest messages of the channel, uses tools, answers',
      batches: true,
      maxWaiting: async ({ channel }) => (await config.forChannel(channel)).config.maxQueuedReplies,
      status: ({ channel }) => statusLines(channel, config, services.llm),
      prompt: (turn) => renderPrompt(turn, parts),
      respond: (turn) => respond(turn, parts),
    });
    context.diagnose(async ({ actor, kind }) => {
      const channel = client.channels.cache.get(actor.channelId);
      if (kind !== 'plugin' || channel?.isSendable() !== true) return [];
      const { continuationModel, fallbackModels } = (await config.forChannel(channel)).config;
      const model = continuationModel === undefined ? {} : { model: continuationModel };
      return modelFindings(services.llm, actor, { ...model, fallbacks: fallbackModels });
    });
    context.provide(ChannelContexts, createChannelContexts(parts));
    defer(services.catalog.advise('chat', createAdvisor(config, client)));
    registerMCommand(context, parts);
    registerContextPage(context, parts);
    if (frontDoor !== undefined) {
      await listenForMore(parts, frontDoor);
      tellRefusedHistory(parts, frontDoor);
    }
    context.personalData({
      async forget() {
        // The caches do not record whose attachments they contain, so all are deleted.
        await images.clear();
        textFiles.clear();
      },
    });
  },
});
