import { definePlugin } from '@cinnabar/sdk';
import { collections, env, inject } from './context.js';
import { checkLetta } from './letta/client.js';
import { settings } from './settings.js';
import { start } from './start.js';

export default definePlugin({
  manifest: {
    id: 'relay',
    version: '0.1.0',
    description: 'Letta agents that live in the guild',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'SendMessagesInThreads', 'ReadMessageHistory'],
    administrative: true,
  },
  settings,
  collections,
  env,
  inject,
  checks: async ({ settings, env: variables }) => checkLetta(await settings.global.get(), variables),
  setup: start,
});
