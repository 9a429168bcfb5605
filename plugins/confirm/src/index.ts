import {
  Approvals,
  Clock,
  type CommandContext,
  definePlugin,
  Languages,
  Ledger,
  type MessageOrigin,
  MessageOrigins,
  Random,
  subcommand,
  ToolPolicies,
  t,
} from '@cinnabar/sdk';
import { type ConfirmContext, settings } from './context.js';
import { expireAll, expireCard, expireOverdue, expireTaskCards, watchMessages, watchOutages } from './decisions.js';
import { createGrants, collections as grantCollections } from './grants.js';
import {
  decideMissed,
  onAllowPattern,
  onButton,
  onExclude,
  onPatternMenu,
  onReason,
  watchReactions,
} from './interactions.js';
import { createInterceptor } from './interceptor.js';
import { registerPage } from './page.js';
import {
  createCardRecords,
  createOutbox,
  createPendingCards,
  type PendingCard,
  collections as recordCollections,
} from './pending-cards.js';
import { recoverCards } from './recovery.js';
import { inert } from './render.js';

const DAY_MS = 24 * 60 * 60_000;
/** Interval in which edits and answers that Discord has not accepted are tried again. */
const OUTBOX_MS = 60_000;
/** Interval of the check for overdue cards of tasks. */
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
  collections: { ...recordCollections, ...grantCollections },
  inject: {
    clock: Clock,
    languages: Languages,
    ledger: Ledger,
    origins: MessageOrigins,
    policies: ToolPolicies,
    random: Random,
  },
  provides: [Approvals],
  setup(plugin) {
    const { client, log, signal, on, component, services } = plugin;
    const cards = createPendingCards();
    const grants = createGrants(plugin.collections, services);
    const context: ConfirmContext = {
      ...services,
      client,
      log,
      signal,
      guildSettings: plugin.settings.guild,
      cards,
      grants,
      records: createCardRecords(plugin.collections),
      outbox: createOutbox({ log, signal }),
      outages: watchOutages(on, services.clock, () => decideMissed(context)),
      components: {
        decide: component({ name: 'decide', run: (interaction, [choice]) => onButton(context, interaction, choice) }),
        exclude: component({ name: 'leave-out', run: (interaction) => onExclude(context, interaction) }),
        reason: component({ name: 'reason', run: (interaction) => onReason(context, interaction) }),
        patternMenu: component({
          name: 'pattern',
          run: (interaction, [messageId]) => onPatternMenu(context, interaction, messageId),
        }),
        allowPattern: component({
          name: 'allow',
          run: (interaction, [messageId, mask]) => onAllowPattern(context, interaction, messageId, mask),
        }),
      },
    };

    plugin.provide(Approvals, grants);
    plugin.intercept(createInterceptor(context));
    plugin.defer(services.origins.add(async (_channelId, ids) => originsOf(context, ids)));
    registerPage(plugin, context);
    watchReactions(on, context);
    watchMessages(on, context);
    plugin.every(DAY_MS, () => grants.removeOld());
    plugin.every(OUTBOX_MS, () => context.outbox.flush());
    plugin.every(TASK_CARDS_MS, () => expireTaskCards(context));
    plugin.group({
      name: 'confirm',
      description: 'Requests that wait for a confirmation',
      commands: [
        subcommand({
          name: 'pending',
          description: 'Your own requests that wait for your 👍 or 👎',
          ephemeral: true,
          run: (ctx) => listPending(context, ctx),
        }),
      ],
    });
    plugin.personalData({
      async forget(userId) {
        for (const card of cards.of(userId)) await expireCard(context, card, 'forgotten');
      },
    });
    plugin.ready(() => Promise.all([recoverCards(context), grants.removeOld()]));
    plugin.defer(() => expireAll(context));
  },
});

/** Which messages are cards of a member, pending or decided. */
function originsOf({ cards }: ConfirmContext, messageIds: readonly string[]): ReadonlyMap<string, MessageOrigin> {
  const origins = new Map<string, MessageOrigin>();
  for (const id of messageIds) {
    const open = cards.on(id);
    const userId = open?.userId ?? cards.deciderOf(id);
    if (userId !== undefined) origins.set(id, { kind: 'card', userId, open: open !== undefined });
  }
  return origins;
}

/** The command `!confirm pending`: the caller's own pending requests, with links. */
async function listPending(context: ConfirmContext, ctx: CommandContext) {
  await expireOverdue(context, ctx.user.id);
  const cards = context.cards.of(ctx.user.id);
  if (cards.length === 0) return ctx.reply(t('Nothing is waiting for your confirmation.'));
  return ctx.reply([t('Waiting for your 👍 or 👎:'), ...cards.map(pendingLine)].join('\n'));
}

function pendingLine({ sentence, guildId, channelId, messageId, expiresAt }: PendingCard): string {
  const link = `https://discord.com/channels/${guildId ?? '@me'}/${channelId}/${messageId}`;
  return t('• {sentence}: {link} (until <t:{until}:T>)', {
    sentence: inert(sentence),
    link,
    until: Math.floor(expiresAt / 1000),
  });
}
