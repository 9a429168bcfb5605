import { definePlugin } from '@cinnabar/sdk';
import { registerCommands } from './commands.js';
import { collections, inject, settings } from './context.js';
import { createCustomStore, importers } from './store.js';
import { registerTools } from './tools.js';

export default definePlugin({
  manifest: {
    id: 'custom',
    version: '1.0.0',
    description: 'Custom commands with a text, and aliases for commands',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages'],
  },
  settings,
  collections,
  inject,
  importers,
  async setup(context) {
    const store = createCustomStore(context);
    await store.loaded;
    context.guildCommands(store.source);
    registerCommands(context, store);
    registerTools(context, store);
    context.ready(() => {
      for (const guildId of context.client.guilds.cache.keys()) {
        const { commands, aliases } = store.of(guildId);
        const hidden = [...commands, ...aliases].filter(({ name }) => store.isHidden(name)).map(({ name }) => name);
        if (hidden.length > 0) {
          context.log.warn('custom commands are hidden by commands of plugins', { guildId, names: hidden });
        }
      }
    });
  },
});
