import { definePlugin, Ledger, Llm, optional, Prefixes, Tools } from '@cinnabar/sdk';
import { collections, exportCalls, forgetCalls } from './calls.js';
import { createHistory } from './history/window.js';
import { respond } from './respond.js';
import { settings } from './settings.js';

export default definePlugin({
  manifest: {
    id: 'chat',
    version: '1.0.0',
    description: 'The default mind: reads the channel, uses tools for the member who asks, answers',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'],
  },
  settings,
  collections,
  inject: { ledger: Ledger, llm: optional(Llm), prefixes: Prefixes, tools: Tools },
  setup({ responder, on, personalData, settings: stored, collections: { calls }, services, signal }) {
    const history = createHistory({ on });
    const settingsFor = (guildId: string | null) =>
      guildId === null ? Promise.resolve(settings.guild.parse({})) : stored.guild(guildId).get();
    responder({
      name: 'chat',
      description: 'Reads the latest messages of the channel, uses tools, answers',
      respond: (turn) => respond(turn, { ...services, history, calls, signal, settingsFor }),
    });
    personalData({
      export: (userId) => exportCalls(calls, userId),
      forget: (userId) => forgetCalls(calls, userId),
    });
  },
});
