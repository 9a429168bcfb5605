import { definePlugin, Moderation } from '@cinnabar/sdk';
import { createActs } from './acts.js';
import { createCaseLog } from './case-log.js';
import { createCases } from './cases.js';
import { createChannelActs } from './channels.js';
import { registerCaseCommands, registerChannelCommands, registerMemberCommands } from './commands.js';
import { recordDiscordActs } from './discord-acts.js';
import { createModerator } from './moderator.js';
import { importers } from './red.js';
import { collections, inject, PLUGIN, settings } from './settings.js';
import { createTemporaryBans } from './temporary-bans.js';
import { registerTools } from './tools.js';

export default definePlugin({
  manifest: {
    id: PLUGIN,
    version: '0.1.0',
    description: 'Warnings, time-outs, kicks and bans with numbered cases; purging, slow mode and locks',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildModeration'],
    permissions: [
      'ViewChannel',
      'SendMessages',
      'ReadMessageHistory',
      'ManageMessages',
      'ManageChannels',
      'ManageRoles',
      'ModerateMembers',
      'KickMembers',
      'BanMembers',
      'ViewAuditLog',
    ],
    administrative: true,
  },
  settings,
  collections,
  inject,
  importers,
  provides: [Moderation],
  setup(context) {
    const { client, log, on, provide, ready, personalData, signal } = context;
    const cases = createCases(context);
    const caseLog = createCaseLog(context, cases);
    const temporaryBans = createTemporaryBans(context, cases, caseLog);
    const acts = createActs(context, cases, caseLog, temporaryBans);
    const channelActs = createChannelActs(context);
    const moderator = createModerator(context, cases, caseLog, acts, channelActs);

    registerMemberCommands(context, moderator);
    registerCaseCommands(context, moderator);
    registerChannelCommands(context, moderator);
    registerTools(context, moderator);
    recordDiscordActs(context, cases, caseLog, temporaryBans);
    on('channelDelete', ({ id }) => channelActs.forget(id));
    provide(Moderation, acts.moderation);
    personalData({
      export: cases.export,
      forget: (userId) =>
        cases.forget(
          userId,
          async (guildId) => (await context.settings.guild(guildId).get()).keepCasesOnForget,
          // Updates the post in the case channel, so that its text is deleted as well.
          async (guildId, one) => (one.post === undefined ? undefined : caseLog.publish(guildId, one)),
        ),
      stays: [
        'that a server’s moderators warned you, put you in time-out, removed or banned you, and when, without their words, where the server keeps that',
        'your name as the moderator in messages about cases that were posted in a server',
      ],
    });
    ready(async () => {
      for await (const { guildId, one } of cases.unfinished()) {
        if (signal.aborted) return;
        const guild = client.guilds.cache.get(guildId);
        // The end of a temporary ban does not depend on the guild, which may be unavailable during an outage of Discord.
        const isPosted = one.post !== undefined || guild === undefined;
        if (one.act === 'tempban' && one.state === 'done' && isPosted) temporaryBans.watch(guildId, one);
        else if (guild !== undefined) {
          await acts.recover(guild, one).catch((error: unknown) => {
            log.warn('a case that was left open could not be finished; it is tried at the next start', {
              guildId,
              number: one.number,
              error,
            });
          });
        }
      }
    });
  },
});
