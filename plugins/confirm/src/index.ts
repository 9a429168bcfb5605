import { Clock, definePlugin, Ledger, subcommand } from '@cinnabar/sdk';
import { createDeliveries } from './asking/deliveries.js';
import { onButton } from './deciding/buttons.js';
import { createDecide } from './deciding/decide.js';
import { onReaction } from './deciding/reactions.js';
import { createInterceptor } from './interceptor.js';
import { personalCards } from './lifecycle/personal-data.js';
import { recoverCards } from './lifecycle/recover.js';
import { stopWaiting } from './lifecycle/stop.js';
import { listPending } from './pending-command.js';
import { settings } from './settings.js';
import { createBoard } from './waiting/board.js';
import { createExpiry } from './waiting/expiry.js';
import { collections, createRecords } from './waiting/records.js';

export default definePlugin({
  manifest: {
    id: 'confirm',
    version: '0.1.0',
    description: 'Holds what a model wants to do until the member who asked has confirmed it with 👍',
    host: '^0.1.0',
    guard: true,
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'DirectMessageReactions'],
    permissions: [
      'ViewChannel',
      'SendMessages',
      'SendMessagesInThreads',
      'AddReactions',
      'ReadMessageHistory',
      'ManageMessages',
      'AttachFiles',
    ],
  },
  settings,
  collections,
  inject: { clock: Clock, ledger: Ledger },
  setup(context) {
    const { client, log, signal, on, services } = context;
    const board = createBoard();
    const deliveries = createDeliveries();
    const records = createRecords(context.collections);
    const shared = { ...services, client, log, signal, board, deliveries, records };
    const expiry = createExpiry(shared);
    const deciding = { ...shared, expiry, decide: createDecide(shared) };
    const buttons = context.component({ name: 'decide', run: onButton(deciding) });

    context.intercept(createInterceptor({ ...deciding, buttons, guildSettings: context.settings.guild }));
    on('messageReactionAdd', onReaction(deciding));
    // Every message of every member passes here: one look-up unless something of theirs waits.
    on('messageCreate', ({ author }) =>
      board.of(author.id) === undefined ? undefined : expiry.expireOverdue(author.id),
    );
    const gone = async (messageId: string) => {
      const card = board.on(messageId);
      if (card !== undefined) await expiry.expireGone(card);
    };
    on('messageDelete', ({ id }) => gone(id));
    on('messageDeleteBulk', (messages) => Promise.all(messages.map(({ id }) => gone(id))));
    context.group({
      name: 'confirm',
      description: 'Requests that wait for a confirmation',
      commands: [
        subcommand({
          name: 'pending',
          description: 'Your own requests that wait for your 👍 or 👎',
          ephemeral: true,
          run: (ctx) => listPending(deciding, ctx),
        }),
      ],
    });
    context.personalData(personalCards(deciding));
    context.ready(() => recoverCards(deciding));
    context.defer(() => stopWaiting(deciding));
  },
});
