import { definePlugin, FrontDoor, turnEndOf } from '@cinnabar/sdk';
import { createChannelQueue } from './channel-queue.js';
import { registerCommands } from './commands.js';
import { inject, settings } from './context.js';
import { createDiagnosis } from './diagnosis.js';
import { createDeletedMessages, createIntake, createMessageRouter } from './intake.js';
import { collections, createStillWorking } from './still-working.js';
import { createTurnRunner } from './turn-runner.js';

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
  inject,
  provides: [FrontDoor],
  setup(context) {
    const { on, provide, ready, metrics, settings, signal } = context;
    const deletedMessages = createDeletedMessages(context);
    const stillWorking = createStillWorking(context);
    ready(stillWorking.removeLeft);
    const { takesBatches, answer } = createTurnRunner(context, stillWorking);
    const queue = createChannelQueue({
      concurrency: async () => (await settings.global.get()).maxConcurrent,
      takesBatches,
      isWithdrawn: (turn) => turnEndOf(turn.signal) !== undefined,
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
    const { take, refusal } = createIntake(context, queue, answer, deletedMessages);
    const router = createMessageRouter(context, take, deletedMessages);
    registerCommands(context, queue, take);
    provide(FrontDoor, router.frontDoor);
    on('messageCreate', router.route);
    context.diagnose(createDiagnosis(context, refusal));
  },
});
