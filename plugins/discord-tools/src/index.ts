import { Access, Clock, definePlugin, Identities, MessageOrigins, ToolPolicies } from '@cinnabar/sdk';
import { offeredBy, settings } from './offering.js';
import { PLUGIN } from './parts.js';
import { createSentMessages, sentCollection } from './sending/sent.js';
import { allTools } from './tools/all.js';

export default definePlugin({
  manifest: {
    id: PLUGIN,
    version: '0.1.0',
    description: 'Discord as tools for models and agents, within the rights of who asks',
    host: '^0.1.0',
    // The second one keeps the emoji of servers known, which are named in reactions.
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
  inject: { access: Access, clock: Clock, identities: Identities, origins: MessageOrigins, policies: ToolPolicies },
  setup({ client, settings, collections, services, tool, on, personalData, defer }) {
    const sent = createSentMessages(collections.sent);
    const whereWorthIt = offeredBy(settings.guild, services.access);
    for (const definition of allTools({ ...services, client, sent, settings: settings.guild }))
      tool(whereWorthIt(definition));
    on('channelDelete', ({ id }) => sent.forgetChannel(id));
    on('threadDelete', ({ id }) => sent.forgetChannel(id));
    personalData(sent.personalData);
    defer(services.origins.add(sent.originsOf));
  },
});
