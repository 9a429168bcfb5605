import {
  type Actor,
  type Clock,
  homeChannelOf,
  type MessageOrigins,
  type Registrar,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { AccountStores } from '../collections.js';
import { findReceipt } from '../receipts/store.js';
import { costText } from './cost.js';
import { originText, whyText } from './why.js';

interface CommandParts {
  readonly client: Pick<Client, 'channels'>;
  readonly stores: AccountStores;
  readonly clock: Pick<Clock, 'now'>;
  readonly origins: Pick<MessageOrigins, 'of'>;
  /** Whether the member may see what the whole server has used: moderators and up. */
  isModerator(actor: Actor): Promise<boolean>;
}

/** `!why` and `!cost`. */
export function registerCommands({ command }: Pick<Registrar, 'command'>, parts: CommandParts): void {
  const { stores, clock } = parts;
  command({
    name: 'why',
    description: 'Why I gave an answer, from what, and what it cost',
    help: 'As a reply to one of my answers: about that one. Otherwise about what I did last in this channel.',
    ephemeral: true,
    async run(ctx) {
      const messageId = ctx.message?.reference?.messageId;
      const origin =
        messageId === undefined ? undefined : (await parts.origins.of(ctx.channel.id, [messageId])).get(messageId);
      if (origin !== undefined) return ctx.reply(originText(origin)).then(() => undefined);
      const receipt =
        (await findReceipt(stores.receipts, ctx.channel.id, messageId)) ??
        // The message begins a thread, which has its id: what was done there belongs to it.
        (messageId === undefined ? undefined : await findReceipt(stores.receipts, messageId));
      if (receipt === undefined) {
        throw new UserError(
          messageId === undefined
            ? 'I have not answered anything here that I have a receipt of.'
            : 'I have no receipt of that message: it is not an answer of mine, or too old.',
        );
      }
      await ctx.reply(whyText(receipt));
    },
  });
  command({
    name: 'cost',
    description: 'What answers have cost: today, in this channel or on this server',
    ephemeral: true,
    options: {
      of: z
        .enum(['day', 'channel', 'guild'])
        .default('day')
        .describe('day: you and this channel today; guild: for moderators'),
    },
    examples: ['!cost', '!cost channel', '!cost guild'],
    async run(ctx, { of }) {
      if (of === 'guild' && !(await parts.isModerator(ctx.actor))) {
        throw new UserError(
          'What the whole server has used is shown to its moderators. `!cost` tells your own and this channel’s.',
        );
      }
      const channelId = await homeChannelOf(parts.client, ctx.actor.channelId);
      await ctx.reply(await costText(of, { ...ctx.actor, channelId }, stores, clock));
    },
  });
}
