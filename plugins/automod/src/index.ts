import { definePlugin, t } from '@cinnabar/sdk';
import { createActs } from './acts.js';
import { registerCommands, registerTools } from './commands.js';
import { collections, ID, inject, settings } from './context.js';
import { createDiscordRules } from './discord-rules.js';
import { createSetup, filterOfRed } from './setup.js';
import { createWatch } from './watch.js';

export default definePlugin({
  manifest: {
    id: ID,
    version: '0.1.0',
    description: 'Filters words, invites, links, mentions and spam, with the AutoMod of Discord where that can',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'MessageContent', 'AutoModerationExecution', 'GuildInvites'],
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'SendMessages', 'ManageMessages'],
    enabledByDefault: false,
    disabling:
      'Its filters end here. Rules that it has written to the AutoMod of Discord stay; `!set automod discordRules no` takes them back first.',
  },
  settings,
  collections,
  inject,
  importers: [filterOfRed],
  setup(context) {
    const acts = createActs(context);
    const discordRules = createDiscordRules(context, acts);
    const watch = createWatch(context, acts);
    const setup = createSetup(context, discordRules);
    registerCommands(context, setup, watch);
    registerTools(context, setup);
    context.needsSetup(async (guildId) => {
      if (guildId === null || (await watch.rulesOf(guildId)).isOn) return undefined;
      return {
        problem: t('Nothing is filtered here yet.'),
        remedy: t('`automod words add` filters words; `automod status` shows the other filters.'),
      };
    });
  },
});
