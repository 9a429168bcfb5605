import { definePlugin, t } from '@cinnabar/sdk';
import { createEventLog, inject, settings } from './event-log.js';
import { logChannels, logMembers } from './guild-changes.js';
import { logMessages } from './messages.js';
import { registerTools } from './tools.js';

export default definePlugin({
  manifest: {
    id: 'logging',
    version: '0.1.0',
    description: 'Writes edits, deletions, joins, roles and changes of channels into a channel',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'MessageContent', 'GuildModeration', 'GuildVoiceStates'],
    // Discord sends joins and leaves only with this intent.
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'SendMessages', 'AttachFiles', 'ViewAuditLog'],
    enabledByDefault: false,
    administrative: true,
  },
  settings,
  inject,
  setup(context) {
    const eventLog = createEventLog(context);
    logMessages(context, eventLog);
    logMembers(context, eventLog);
    logChannels(context, eventLog);
    registerTools(context);
    context.needsSetup(async (guildId) => {
      if (guildId === null) return undefined;
      const chosen = await context.settings.guild(guildId).get();
      const places = [
        chosen.channel,
        chosen.messageChannel,
        chosen.memberChannel,
        chosen.channelChannel,
        chosen.voiceChannel,
      ];
      if (places.some((place) => place !== undefined)) return undefined;
      return { problem: t('No channel for the log is chosen.'), remedy: t('Choose one: `set logging channel #log`.') };
    });
  },
});
