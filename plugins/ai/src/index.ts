import {
  Access,
  Clock,
  Commands,
  definePlugin,
  FrontDoor,
  Llm,
  optional,
  Random,
  Responders,
  turnEndOf,
} from '@cinnabar/sdk';
import { triggerOf } from './activation.js';
import { createAnswering } from './answering.js';
import { arrivalOf } from './arrival.js';
import { createChannelQueue } from './channel-queue.js';
import { createClaims } from './claims.js';
import { registerCommands } from './commands.js';
import { createFrontDoor } from './front-door.js';
import { createIntake } from './intake.js';
import { answerLimitsOf, settings } from './settings.js';
import { collections, createStillWorking } from './still-working.js';
import { createWithdrawals } from './withdrawals.js';

export default definePlugin({
  manifest: {
    id: 'ai',
    version: '1.1.0',
    description: 'The front door: brings what is said to the bot to the mind that answers there',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'SendMessagesInThreads', 'ReadMessageHistory'],
    administrative: true,
  },
  settings,
  collections,
  inject: {
    access: Access,
    clock: Clock,
    commands: Commands,
    llm: optional(Llm),
    random: Random,
    responders: Responders,
  },
  provides: [FrontDoor],
  setup({ command, on, every, provide, ready, metrics, client, settings, collections, services, signal, log }) {
    const { clock, commands, responders } = services;
    const withdrawals = createWithdrawals({ on });
    const stillWorking = createStillWorking({ words: collections.stillWorking, client, clock, log, signal });
    ready(stillWorking.removeLeft);
    const { takesBatches, answer } = createAnswering({ responders, settings, stillWorking, clock, every, log });
    const queue = createChannelQueue({
      concurrency: async () => (await settings.global.get()).maxConcurrent,
      takesBatches,
      isWithdrawn: ({ signal: wanted }) => turnEndOf(wanted) !== undefined,
      signal,
      answer,
    });
    metrics.gauge({
      name: 'turns_waiting',
      help: 'Turns that wait for an answer.',
      read: () => queue.totals().waiting,
    });
    metrics.gauge({
      name: 'turns_answering',
      help: 'Channels in which an answer is being made.',
      read: () => queue.totals().answering,
    });
    const take = createIntake({ ...services, settings, queue, answer, withdrawals, every, log });
    registerCommands({ command }, { ...services, settings, queue, take });
    const limits = (guildId: string | null) => answerLimitsOf(settings, guildId);
    const claims = createClaims();
    provide(FrontDoor, createFrontDoor({ settings, client, clock, take, claims, withdrawals, signal, log }));
    on('messageCreate', (message) => {
      const botId = client.user?.id;
      const trigger = triggerOf(message, botId);
      if (trigger === undefined || botId === undefined || commands.matches(message) || claims.holds(message)) return;
      const arrival = arrivalOf(message, trigger, botId, { clock, signal, limits });
      if (arrival !== undefined) return take(arrival);
      log.debug('not answered: the bot may not write there', { channelId: message.channelId, trigger });
    });
  },
});
