import type { ComponentHandle, ComponentInteraction, Logger } from '@cinnabar/sdk';
import type {
  APIModalInteractionResponseCallbackData,
  ButtonInteraction,
  Client,
  MessageReaction,
  ModalSubmitInteraction,
  PartialMessageReaction,
  PartialUser,
  User,
} from 'discord.js';
import type { Records } from './card-records.js';
import { choiceOf } from './controls.js';
import type { Decide, Decision } from './decisions.js';
import type { Expiry } from './expiry.js';
import { channelOf, NO_PINGS, pressedBy } from './messages.js';
import type { PatternChooser } from './pattern-screen.js';
import type { Board, Deliveries, Request, WaitingCard } from './pending-cards.js';

interface Parts {
  readonly board: Board;
  readonly deliveries: Deliveries;
  readonly expiry: Expiry;
  readonly decide: Decide;
  readonly client: Client;
  readonly log: Logger;
}

type Reaction = MessageReaction | PartialMessageReaction;

/** Only the requester's 👍 and 👎 count, in any skin tone, and only the first; their later ones are taken away again. Everyone else's stay. */
export function onReaction({ board, deliveries, expiry, decide, client, log }: Parts) {
  return async function react(reaction: Reaction, user: User | PartialUser): Promise<void> {
    if (user.id === client.user?.id) return;
    await deliveries.settled(user.id);
    const choice = choiceOf(reaction.emoji);
    const card = board.on(reaction.message.id);
    if (card === undefined) {
      if (choice !== undefined && board.deciderOf(reaction.message.id) === user.id) await takeAway(reaction, user.id);
      return;
    }
    if (card.userId !== user.id) return;
    if (expiry.isOverdue(card)) await expiry.expire(card, 'timedOut');
    else if (choice !== undefined) await decide(card, { approved: choice === 'approve' });
  };

  /** Needs Manage Messages, and is never possible in a direct message. Without it the reaction stays, and still means nothing. */
  async function takeAway(reaction: Reaction, userId: string): Promise<void> {
    const channel = reaction.message.channel;
    if (client.user === null || channel.isDMBased()) return;
    if (channel.permissionsFor(client.user)?.has('ManageMessages') !== true) return;
    await reaction.users.remove(userId).catch((error: unknown) => {
      log.debug('a later reaction could not be removed', { messageId: reaction.message.id, error });
    });
  }
}

interface MissedParts {
  readonly board: Board;
  readonly expiry: Expiry;
  readonly decide: Decide;
  readonly client: Client;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** After a lost session: looks at every card that waits for what its requester has pressed meanwhile, and acts on it while there is time. */
export async function takeMissed({ board, expiry, decide, client, log, signal }: MissedParts): Promise<void> {
  for (const card of board.all()) {
    if (signal.aborted) return;
    await take(card).catch((error: unknown) => {
      log.warn('a card could not be looked at after a lost session', { callId: card.callId, error });
    });
  }

  async function take(card: WaitingCard): Promise<void> {
    const channel = await channelOf(client, card.channelId);
    const choice = channel === undefined ? undefined : await pressedBy(channel, card.messageId, card.userId);
    if (choice === undefined) return;
    if (expiry.isOverdue(card)) await expiry.expire(card, 'timedOut');
    else await decide(card, { approved: choice === 'approve' });
  }
}

export interface ButtonParts extends OpenCardParts {
  readonly decide: Decide;
  readonly log: Logger;
}
interface ButtonsParts extends ButtonParts {
  /** Answers the modal that asks for a reason. */
  readonly reasons: ComponentHandle;
  readonly patterns: PatternChooser;
}

/** The same rules as for reactions; but Discord wants every click answered, so the others are told why nothing happens. */
export function onButton(parts: ButtonsParts) {
  return async function click(interaction: ComponentInteraction, [choice]: readonly string[]): Promise<void> {
    if (!interaction.isButton()) return;
    if (choice === 'about') return whisper(interaction, aboutText(parts.board.on(interaction.message.id)));
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const { card, request } = open;
    if (choice === 'reason') await interaction.showModal(reasonModal(parts.reasons.customId()));
    else if (choice === 'like') await parts.patterns.show(interaction, card, request);
    else if (choice === 'here') await decideBy(interaction, card, { approved: true, share: 'here' }, parts);
    else if (choice === 'task' && request.allowance.any) {
      await decideBy(interaction, card, { approved: true, pattern: { kind: 'any' } }, parts);
    } else await decideBy(interaction, card, { approved: choice === 'approve' }, parts);
  };
}

function aboutText(card: WaitingCard | undefined): string {
  const state =
    card === undefined
      ? 'It is not open any more.'
      : `<@${card.userId}> asked for it, and only they can decide: 👍 to let it run, 👎 to cancel.`;
  return `This is a confirmation of mine. ${state} What I send for members never has this button.`;
}

/** A decision counts even if its acknowledgement gets lost. */
async function decideBy(
  interaction: ButtonInteraction | ModalSubmitInteraction,
  card: WaitingCard,
  decision: Decision,
  { decide, log }: Pick<ButtonParts, 'decide' | 'log'>,
): Promise<void> {
  await interaction.deferUpdate().catch((error: unknown) => {
    log.debug('a click could not be acknowledged', { callId: card.callId, error });
  });
  await decide(card, decision);
}

/** The member has chosen in the menu of a card which of its calls are left out: the card shows that, and 👍 runs the others. */
export function onLeaveOut(parts: OpenCardParts & { readonly records: Records }) {
  return async function leaveOut(interaction: ComponentInteraction): Promise<void> {
    if (!interaction.isStringSelectMenu()) return;
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const { card } = open;
    card.state = { ...card.state, excluded: new Set(interaction.values) };
    const { content, components } = card.draw(card.state);
    await parts.records.change(card.callId, { content });
    // Decided meanwhile: the card shows that instead.
    if (!parts.board.has(card)) {
      await interaction.deferUpdate();
      return;
    }
    const shown = interaction.update({ content, components, allowedMentions: NO_PINGS });
    card.drawn = shown.catch(() => undefined);
    await shown;
  };
}

interface OpenCardParts {
  readonly board: Board;
  readonly deliveries: Deliveries;
  readonly expiry: Expiry;
}

/** The card that somebody may decide now. Otherwise they are told why not, and nothing is returned. */
export async function openCard(
  { board, deliveries, expiry }: OpenCardParts,
  interaction: ComponentInteraction,
  messageId: string,
): Promise<{ readonly card: WaitingCard; readonly request: Request } | undefined> {
  await deliveries.settled(interaction.user.id);
  const card = board.on(messageId);
  if (card === undefined) {
    await whisper(interaction, 'This request is not open any more.');
    return undefined;
  }
  if (card.userId !== interaction.user.id) {
    await whisper(interaction, 'Only the member who asked for this can decide it.');
    return undefined;
  }
  if (expiry.isOverdue(card)) {
    await whisper(interaction, 'This request has timed out.');
    await expiry.expire(card, 'timedOut');
    return undefined;
  }
  return { card, request: card.request };
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral' });
}

const FIELD = 'reason';
const LONGEST_REASON = 300;

/** Asks why: the model is told. 4 is a text input, 2 a paragraph. */
function reasonModal(customId: string): APIModalInteractionResponseCallbackData {
  const field = { type: 4, custom_id: FIELD, label: 'Why not? The model is told.', style: 2 } as const;
  return {
    custom_id: customId,
    title: 'Deny with a reason',
    components: [{ type: 1, components: [{ ...field, required: true, min_length: 1, max_length: LONGEST_REASON }] }],
  };
}

/** The reason has been written: the call is denied, unless it was decided meanwhile. */
export function onReason(parts: ButtonParts) {
  return async function submit(interaction: ComponentInteraction): Promise<void> {
    if (!interaction.isModalSubmit() || !interaction.isFromMessage()) return;
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const reason = interaction.fields.getTextInputValue(FIELD).trim().slice(0, LONGEST_REASON);
    await decideBy(interaction, open.card, { approved: false, ...(reason === '' ? {} : { reason }) }, parts);
  };
}
