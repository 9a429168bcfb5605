import { Access, Clock, definePlugin, Identities, MessageOrigins, TierRoles, ToolPolicies } from '@cinnabar/sdk';
import { createSentMessages, sentCollection } from './sending.js';
import { bySettings, PLUGIN, settings } from './settings.js';
import { channelPermissionTools, channelTools } from './tools/channels.js';
import { forumTools } from './tools/forums.js';
import { memberTools } from './tools/members.js';
import { messageTools } from './tools/messages.js';
import { reactionTools } from './tools/reactions.js';
import { roleTools } from './tools/roles.js';
import { searchTool } from './tools/search.js';
import { serverTools } from './tools/servers.js';
import { threadTools } from './tools/threads.js';
import { webhookTools } from './tools/webhooks.js';

export default definePlugin({
  manifest: {
    id: PLUGIN,
    version: '0.1.0',
    description: 'Discord as tools for models and agents, within the rights of the requester',
    host: '^0.1.0',
    // `GuildExpressions` keeps the cache of servers' emoji up to date, which reactions name.
    intents: ['Guilds', 'GuildExpressions'],
    permissions: [
      'ViewChannel',
      'ReadMessageHistory',
      'SendMessages',
      'SendMessagesInThreads',
      'AddReactions',
      'UseExternalEmojis',
      'CreatePublicThreads',
      'CreatePrivateThreads',
      'ManageMessages',
      'PinMessages',
      'ManageThreads',
      'ManageChannels',
      'ManageRoles',
      'ManageWebhooks',
      'ModerateMembers',
    ],
  },
  settings,
  collections: { sent: sentCollection },
  inject: {
    access: Access,
    clock: Clock,
    identities: Identities,
    origins: MessageOrigins,
    policies: ToolPolicies,
    tierRoles: TierRoles,
  },
  setup({ client, settings, collections, services, tool, on, question, defer }) {
    const sent = createSentMessages(collections.sent);
    const context = { ...services, client, sent, question, settings: settings.guild };
    const tools = [
      ...messageTools(context),
      searchTool(context),
      ...reactionTools(context),
      ...serverTools(context),
      ...channelTools(context),
      ...channelPermissionTools(context),
      ...threadTools(context),
      ...forumTools(context),
      ...webhookTools(context),
      ...roleTools(context),
      ...memberTools(context),
    ];
    for (const definition of tools) tool(bySettings(context, definition));
    on('channelDelete', ({ id }) => sent.forgetChannel(id));
    on('threadDelete', ({ id }) => sent.forgetChannel(id));
    defer(services.origins.add(sent.originsOf));
  },
});
