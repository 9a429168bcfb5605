import {
  Approvals,
  Clock,
  definePlugin,
  Ledger,
  type MessageOrigin,
  MessageOrigins,
  Random,
  subcommand,
  ToolPolicies,
} from '@cinnabar/sdk';
import { createOutbox, createRecords, personalCards, collections as waitingCollections } from './card-records.js';
import { markRow } from './controls.js';
import { createDecide } from './decisions.js';
import { createExpiry, stopWaiting, watchConnection } from './expiry.js';
import { createGrants, collections as sessionCollections } from './grants.js';
import { onButton, onLeaveOut, onReaction, onReason, takeMissed } from './interactions.js';
import { createInterceptor } from './interceptor.js';
import { createPatternChooser, onAllow, onMenu } from './pattern-screen.js';
import { createBoard, createDeliveries } from './pending-cards.js';
import { listPending } from './pending-command.js';
import { createRecovery } from './recovery.js';
import { settings } from './settings.js';

const DAY_MS = 24 * 60 * 60_000;
/** How often it is tried again to show what Discord has not taken. */
const OUTBOX_MS = 60_000;
/** How often the cards of tasks are looked through for those whose time is over. */
const TASK_CARDS_MS = 60_000;

export default definePlugin({
  manifest: {
    id: 'confirm',
    version: '0.2.0',
    description: 'Holds what a model wants to do until the member who asked has confirmed it with 👍',
    host: '^0.1.0',
    guard: true,
    disabling:
      '⚠️ Without it nothing that a model does here is held for a 👍: tools that write, delete or cost money run at once, for every member who may use them. Cards that wait now can no longer be decided.',
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
    administrative: true,
  },
  settings,
  collections: { ...waitingCollections, ...sessionCollections },
  inject: { clock: Clock, ledger: Ledger, origins: MessageOrigins, policies: ToolPolicies, random: Random },
  provides: [Approvals],
  setup(context) {
    const { client, log, signal, on, component, services } = context;
    const board = createBoard();
    const deliveries = createDeliveries();
    const records = createRecords(context.collections);
    const grants = createGrants(context.collections, services);
    const outbox = createOutbox({ log, signal });
    const shared = { ...services, client, log, signal, board, deliveries, records, grants, outbox };
    const recovery = createRecovery(shared);
    const connection = watchConnection(on, services.clock, () => takeMissed(deciding));
    const expiry = createExpiry({ ...shared, recovery, connection });
    const deciding = {
      ...shared,
      expiry,
      recovery,
      decide: createDecide({ ...shared, recovery, mark: () => [markRow(buttons)] }),
    };
    const reasons = component({ name: 'reason', run: onReason(deciding) });
    const allow = component({ name: 'allow', run: onAllow(deciding) });
    const menu = component({ name: 'pattern', run: onMenu(deciding, allow) });
    const patterns = createPatternChooser({ menu, allow });
    const buttons = component({
      name: 'decide',
      run: onButton({ ...deciding, reasons, patterns }),
    });
    const exclusions = component({ name: 'leave-out', run: onLeaveOut(deciding) });
    context.provide(Approvals, grants);
    const originOf = (messageId: string): MessageOrigin | undefined => {
      const userId = board.on(messageId)?.userId ?? board.deciderOf(messageId);
      return userId === undefined ? undefined : { kind: 'card', userId, open: board.on(messageId) !== undefined };
    };
    context.defer(
      services.origins.add(
        async (_channelId, ids) =>
          new Map(
            ids.flatMap((id) => {
              const origin = originOf(id);
              return origin === undefined ? [] : [[id, origin] as const];
            }),
          ),
      ),
    );
    context.every(DAY_MS, () => grants.removeOld());
    context.every(OUTBOX_MS, () => outbox.flush());
    context.every(TASK_CARDS_MS, () => expiry.expireTaskCards());

    context.intercept(createInterceptor({ ...deciding, buttons, exclusions, guildSettings: context.settings.guild }));
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
    context.ready(() => Promise.all([recovery.all(), grants.removeOld()]));
    context.defer(() => stopWaiting(deciding));
  },
});
