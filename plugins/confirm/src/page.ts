import { type Actor, type Registrar, t, UserError, type WebBlock, webAct, z } from '@cinnabar/sdk';
import type { ConfirmContext } from './context.js';
import { type Decision, decide, expireCard, expireOverdue, isOverdue } from './decisions.js';
import { LONGEST_REASON } from './interactions.js';
import type { PendingCard } from './pending-cards.js';

const card = z.object({ card: z.string() });

/** Registers the page with a member's own pending requests. Decisions follow the rules of reactions: only by the requester, once, in time. */
export function registerPage({ page }: Pick<Registrar, 'page'>, context: ConfirmContext): void {
  const { cards } = context;
  const own = ({ userId, guildId }: Actor) => cards.of(userId).filter((one) => one.guildId === guildId);
  /** @throws UserError when the card is another member's, or no longer pending */
  const decideAs = async (messageId: string, { userId }: Actor, decision: Decision): Promise<string> => {
    await cards.delivered(userId);
    const found = cards.on(messageId);
    if (found === undefined) throw new UserError(t('This request is not open any more.'));
    if (found.userId !== userId) throw new UserError(t('Only the member who asked for this can decide it.'));
    if (isOverdue(context, found)) {
      await expireCard(context, found, 'timedOut');
      throw new UserError(t('This request has timed out.'));
    }
    if (!(await decide(context, found, decision))) throw new UserError(t('This request is not open any more.'));
    return decision.approved ? t('Confirmed. The result is in the channel.') : t('Cancelled.');
  };

  page({
    name: 'pending',
    title: 'Confirmations',
    description: 'Your own requests that wait for your 👍 or 👎',
    about: 'guild',
    group: 'agents',
    access: { command: 'confirm pending' },
    async view({ actor }) {
      await expireOverdue(context, actor.userId);
      const waiting = own(actor);
      if (waiting.length === 0)
        return { blocks: [{ kind: 'text', text: t('Nothing is waiting for your confirmation.') }] };
      return { blocks: waiting.flatMap(blocksOf) };
    },
    watch: ({ actor: { userId } }, changed) => cards.onChange((whose) => whose === userId && changed()),
    card({ actor }) {
      const { length } = own(actor);
      return length === 0
        ? []
        : [
            {
              kind: 'figures',
              figures: [{ name: t('Waiting for you'), value: { count: length, link: { page: 'confirm/pending' } } }],
            },
          ];
    },
    acts: {
      approve: webAct({
        effect: 'changes',
        input: card,
        run: (input, { actor }) => decideAs(input.card, actor, { approved: true }),
      }),
      deny: webAct({
        effect: 'changes',
        input: card.extend({ reason: z.string().max(LONGEST_REASON).optional() }),
        run({ card: id, reason = '' }, { actor }) {
          const why = reason.trim();
          return decideAs(id, actor, { approved: false, ...(why === '' ? {} : { reason: why }) });
        },
      }),
    },
  });
}

function blocksOf(pending: PendingCard): readonly WebBlock[] {
  const { channelId, draw, expiresAt, guildId, messageId, sentence, state } = pending;
  const input = { card: messageId };
  return [
    {
      kind: 'section',
      title: sentence,
      blocks: [
        { kind: 'text', text: draw(state).content },
        {
          kind: 'facts',
          facts: [
            { name: t('Channel'), value: { channel: channelId } },
            { name: t('Until'), value: { time: expiresAt } },
            {
              name: t('Message'),
              value: {
                link: { discord: `https://discord.com/channels/${guildId ?? '@me'}/${channelId}/${messageId}` },
                text: t('Show it in Discord'),
              },
            },
          ],
        },
        {
          kind: 'buttons',
          buttons: [
            { act: 'approve', label: t('👍 Confirm'), tone: 'primary', input },
            { act: 'deny', label: t('👎 Cancel'), input },
          ],
        },
        {
          kind: 'form',
          act: 'deny',
          compact: true,
          input,
          fields: [
            { name: 'reason', label: t('Why not? The model is told.'), control: { kind: 'text' }, optional: true },
          ],
          submit: t('Deny with a reason'),
        },
      ],
    },
  ];
}
