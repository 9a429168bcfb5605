import { Access, Clock, Commands, definePlugin, Llm, optional, Random, Responders } from '@cinnabar/sdk';
import { triggerOf } from './activation.js';
import { arrivalOf } from './arrival.js';
import { createChannelQueue } from './channel-queue.js';
import { registerCommands } from './commands.js';
import { createIntake } from './intake.js';
import { settings } from './settings.js';

export default definePlugin({
  manifest: {
    id: 'ai',
    version: '1.0.0',
    description: 'The front door: brings what is said to the bot to the mind that answers there',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'SendMessagesInThreads', 'ReadMessageHistory'],
  },
  settings,
  inject: {
    access: Access,
    clock: Clock,
    commands: Commands,
    llm: optional(Llm),
    random: Random,
    responders: Responders,
  },
  setup({ command, on, every, client, settings, services, signal, log }) {
    const { commands } = services;
    const queue = createChannelQueue();
    const take = createIntake({ ...services, settings, queue, every, log });
    registerCommands({ command }, { ...services, settings, queue, take });
    on('messageCreate', (message) => {
      const botId = client.user?.id;
      const trigger = triggerOf(message, botId);
      if (trigger === undefined || botId === undefined || commands.matches(message)) return;
      const arrival = arrivalOf(message, trigger, botId, signal);
      if (arrival !== undefined) return take(arrival);
      log.debug('not answered: the bot may not write there', { channelId: message.channelId, trigger });
    });
  },
});
