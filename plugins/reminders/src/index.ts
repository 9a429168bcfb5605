import { definePlugin } from '@cinnabar/sdk';
import { registerCommands, registerTools } from './commands.js';
import { collections, inject, settings } from './context.js';
import { registerDelivery } from './delivery.js';
import { createReminders } from './store.js';

export default definePlugin({
  manifest: {
    id: 'reminders',
    version: '1.0.0',
    description: 'Reminds members of what they want, when they want',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages'],
  },
  settings,
  collections,
  inject,
  setup(context) {
    const reminders = createReminders(context);
    registerCommands(context, reminders);
    registerTools(context, reminders);
    registerDelivery(context, reminders);
  },
});
