import { type ComponentInteraction, findSendable, type Registrar, t, visible } from '@cinnabar/sdk';
import type {
  APIActionRowComponent,
  APIButtonComponentWithCustomId,
  APIModalInteractionResponseCallbackData,
  APIStringSelectComponent,
  ButtonInteraction,
  MessageReaction,
  ModalSubmitInteraction,
  PartialMessageReaction,
  PartialUser,
  StringSelectMenuInteraction,
  User,
} from 'discord.js';
import type { ConfirmContext } from './context.js';
import { choiceOf } from './controls.js';
import { type Decision, decide, expireCard, isOverdue } from './decisions.js';
import { briefPatternWords, choicesOf, type Pattern, patternLike, permits, usuallyFixed } from './grants.js';
import { fetchReaction, NO_PINGS } from './outcomes.js';
import type { PendingCard } from './pending-cards.js';
import { inert, literalOf } from './render.js';

type Reaction = MessageReaction | PartialMessageReaction;

export function watchReactions(on: Registrar['on'], context: ConfirmContext): void {
  on('messageReactionAdd', (reaction, user) => onReaction(context, reaction, user));
}

/**
 * Handles a reaction. Only the requester's 👍 and 👎 count, in any skin tone, and only the first one; later ones are removed. Other members' reactions stay.
 */
async function onReaction(context: ConfirmContext, reaction: Reaction, user: User | PartialUser): Promise<void> {
  const { cards, client } = context;
  if (user.id === client.user?.id) return;
  await cards.delivered(user.id);
  const choice = choiceOf(reaction.emoji);
  const card = cards.on(reaction.message.id);
  if (card === undefined) {
    if (choice !== undefined && cards.deciderOf(reaction.message.id) === user.id)
      await removeReaction(context, reaction, user.id);
  } else if (card.userId === user.id) await decideInTime(context, card, choice);
}

/** To be called after a lost session: asks Discord for the requesters' reactions to pending cards, and carries them out if the time has not passed. */
export async function decideMissed(context: ConfirmContext): Promise<void> {
  const { cards, client, log, signal } = context;
  for (const card of cards.all()) {
    if (signal.aborted) return;
    try {
      const choice = await fetchReaction(await findSendable(client, card.channelId), card.messageId, card.userId);
      if (choice !== undefined) await decideInTime(context, card, choice);
    } catch (error) {
      log.warn('a card could not be looked at after a lost session', { callId: card.callId, error });
    }
  }
}

/** Carries out a decision; a card that is overdue is ended instead. */
async function decideInTime(
  context: ConfirmContext,
  card: PendingCard,
  choice: 'approve' | 'refuse' | undefined,
): Promise<void> {
  if (isOverdue(context, card)) await expireCard(context, card, 'timedOut');
  else if (choice !== undefined) await decide(context, card, { approved: choice === 'approve' });
}

/** Removes a reaction. Without the permission Manage Messages, and in direct messages, it stays without effect. */
async function removeReaction({ client, log }: ConfirmContext, reaction: Reaction, userId: string): Promise<void> {
  const channel = reaction.message.channel;
  if (client.user === null || channel.isDMBased()) return;
  if (channel.permissionsFor(client.user)?.has('ManageMessages') !== true) return;
  await reaction.users.remove(userId).catch((error: unknown) => {
    log.debug('a later reaction could not be removed', { messageId: reaction.message.id, error });
  });
}

/** Handles a card's buttons under the same rules as reactions. Discord requires an answer to every click, so other members get an explanation. */
export async function onButton(
  context: ConfirmContext,
  interaction: ComponentInteraction,
  choice: string | undefined,
): Promise<void> {
  if (!interaction.isButton()) return;
  const { cards, components } = context;
  if (choice === 'about') return whisper(interaction, aboutText(cards.on(interaction.message.id)));
  const card = await openCard(context, interaction, interaction.message.id);
  if (card === undefined) return;
  if (choice === 'reason') return interaction.showModal(reasonForm(components.reason.customId()));
  if (choice === 'like') return showPatternScreen(context, interaction, card);
  await decideBy(context, interaction, card, decisionOf(choice, card));
}

function decisionOf(choice: string | undefined, { requests: [{ allowance }] }: PendingCard): Decision {
  if (choice === 'here') return { approved: true, share: 'here' };
  if (choice === 'task' && allowance.any) return { approved: true, pattern: { kind: 'any' } };
  return { approved: choice === 'approve' };
}

function aboutText(card: PendingCard | undefined): string {
  const state =
    card === undefined
      ? t('It is not open any more.')
      : t('<@{userId}> asked for it, and only they can decide: 👍 to let it run, 👎 to cancel.', {
          userId: card.userId,
        });
  return t('This is a confirmation of mine. {state} What I send for members never has this button.', { state });
}

const FIELD = 'reason';
export const LONGEST_REASON = 300;

/** The form for a reason, which the model gets. Type 4 is a text input, style 2 a paragraph. */
function reasonForm(customId: string): APIModalInteractionResponseCallbackData {
  const field = { type: 4, custom_id: FIELD, label: t('Why not? The model is told.'), style: 2 } as const;
  return {
    custom_id: customId,
    title: t('Deny with a reason'),
    components: [{ type: 1, components: [{ ...field, required: true, min_length: 1, max_length: LONGEST_REASON }] }],
  };
}

/** Handles the form: the call is denied, unless it was decided meanwhile. */
export async function onReason(context: ConfirmContext, interaction: ComponentInteraction): Promise<void> {
  if (!interaction.isModalSubmit() || !interaction.isFromMessage()) return;
  const card = await openCard(context, interaction, interaction.message.id);
  if (card === undefined) return;
  const reason = interaction.fields.getTextInputValue(FIELD).trim().slice(0, LONGEST_REASON);
  await decideBy(context, interaction, card, { approved: false, ...(reason === '' ? {} : { reason }) });
}

/** Carries out a decision, which counts even if its acknowledgement is lost. */
async function decideBy(
  context: ConfirmContext,
  interaction: ButtonInteraction | ModalSubmitInteraction,
  card: PendingCard,
  decision: Decision,
): Promise<void> {
  await interaction.deferUpdate().catch((error: unknown) => {
    context.log.debug('a click could not be acknowledged', { callId: card.callId, error });
  });
  await decide(context, card, decision);
}

/** Handles the menu of calls that are left out: the card shows the choice, and 👍 executes the others. */
export async function onExclude(context: ConfirmContext, interaction: ComponentInteraction): Promise<void> {
  if (!interaction.isStringSelectMenu()) return;
  const card = await openCard(context, interaction, interaction.message.id);
  if (card === undefined) return;
  card.state = { ...card.state, excluded: new Set(interaction.values) };
  const { content, components } = card.draw(card.state);
  await context.records.change(card.callId, { content });
  // The card was decided meanwhile, and shows that instead.
  if (!context.cards.has(card)) {
    await interaction.deferUpdate();
    return;
  }
  const shown = interaction.update({ content, components, allowedMentions: NO_PINGS });
  card.drawn = shown.catch(() => undefined);
  await shown;
}

/** Handles another choice of arguments. */
export async function onPatternMenu(
  context: ConfirmContext,
  interaction: ComponentInteraction,
  messageId = '',
): Promise<void> {
  if (!interaction.isStringSelectMenu()) return;
  const card = await openCard(context, interaction, messageId);
  if (card !== undefined) await changePatternScreen(context, interaction, card);
}

/** Allows the displayed pattern; this call is the first one. */
export async function onAllowPattern(
  context: ConfirmContext,
  interaction: ComponentInteraction,
  messageId = '',
  mask = '',
): Promise<void> {
  if (!interaction.isButton()) return;
  const card = await openCard(context, interaction, messageId);
  const pattern = card === undefined ? undefined : await acceptPattern(context, interaction, card, mask);
  if (card !== undefined && pattern !== undefined) await decide(context, card, { approved: true, pattern });
}

/** The card that the member may decide now; others get an explanation, and the result is `undefined`. */
async function openCard(
  context: ConfirmContext,
  interaction: ComponentInteraction,
  messageId: string,
): Promise<PendingCard | undefined> {
  await context.cards.delivered(interaction.user.id);
  const card = context.cards.on(messageId);
  if (card === undefined) await whisper(interaction, t('This request is not open any more.'));
  else if (card.userId !== interaction.user.id) {
    await whisper(interaction, t('Only the member who asked for this can decide it.'));
  } else if (isOverdue(context, card)) {
    await whisper(interaction, t('This request has timed out.'));
    await expireCard(context, card, 'timedOut');
  } else return card;
  return undefined;
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral' });
}

/** Shows which arguments have to stay the same, for the member to choose, and which calls that allows. */
async function showPatternScreen(
  context: ConfirmContext,
  interaction: ButtonInteraction,
  card: PendingCard,
): Promise<void> {
  const { call, allowance } = card.requests[0];
  const fixed = allowance.loosen ? usuallyFixed(call.input) : new Set(choicesOf(call.input));
  await interaction.reply({ ...patternScreen(context, card, fixed), flags: 'Ephemeral' });
}

/** Shows which calls another choice of arguments would allow. */
async function changePatternScreen(
  context: ConfirmContext,
  interaction: StringSelectMenuInteraction,
  card: PendingCard,
): Promise<void> {
  await interaction.update(patternScreen(context, card, new Set(interaction.values)));
}

/**
 * The displayed pattern, if it may be allowed; otherwise the page shows why not. The button contains the choice, so that an outdated page allows what it shows.
 */
async function acceptPattern(
  { log }: ConfirmContext,
  interaction: ButtonInteraction,
  { callId, requests: [{ call, allowance }] }: PendingCard,
  mask: string,
): Promise<Pattern | undefined> {
  const pattern = patternLike(call, unmask(choicesOf(call.input), mask));
  const words = shownWords(call.tool.name, pattern);
  if (words === undefined || !permits(allowance, pattern)) return undefined;
  await interaction
    .update({ content: t('✅ For the rest of this task: {words}.', { words }), components: [] })
    .catch((error: unknown) => log.debug('a click could not be acknowledged', { callId, error }));
  return pattern;
}

type Rows = [APIActionRowComponent<APIStringSelectComponent>, APIActionRowComponent<APIButtonComponentWithCustomId>];

/** Maximum number of characters of the description as it is sent. Discord accepts 2,000, and other text is added. */
const LONGEST_WORDS = 1_700;
/** Discord's limit for the description of an option. */
const LONGEST_DESCRIPTION = 100;
const tooMuch = () => t('That is more than I can show. Please let fewer arguments change.');

/** The effect of a choice of arguments, with the components to change and to accept it. */
function patternScreen(
  { components: { patternMenu, allowPattern } }: ConfirmContext,
  { messageId, requests: [{ call, allowance }] }: PendingCard,
  fixed: ReadonlySet<string>,
) {
  const choices = choicesOf(call.input);
  const pattern = patternLike(call, fixed);
  const [menuRow, buttonRow]: Rows = [
    {
      type: 1,
      components: [
        {
          type: 3,
          custom_id: patternMenu.customId(messageId),
          placeholder: t('Nothing has to stay the same'),
          min_values: 0,
          max_values: choices.length,
          options: choices.map((name) => ({
            label: name,
            value: name,
            description: clip(visible(literalOf(call.input[name]))),
            default: fixed.has(name),
          })),
        },
      ],
    },
    {
      type: 1,
      components: [
        {
          type: 2,
          style: 3,
          label: t('Allow exactly this'),
          custom_id: allowPattern.customId(messageId, maskOf(choices, fixed)),
        },
      ],
    },
  ];
  const hasMenu = allowance.loosen && choices.length > 0;
  const words = shownWords(call.tool.name, pattern);
  return {
    content: [
      ...(words === undefined
        ? [tooMuch()]
        : [t('This call runs, and for the rest of this task these are no longer asked about:'), `> ${words}`]),
      ...(hasMenu ? [t('Choose below which arguments have to stay the same.')] : []),
    ].join('\n'),
    // A pattern that cannot be shown cannot be allowed.
    components: [...(hasMenu ? [menuRow] : []), ...(words === undefined ? [] : [buttonRow])],
  };
}

/** The description of the pattern; `undefined` when it does not fit in one message. */
function shownWords(tool: string, pattern: Pattern): string | undefined {
  const words = briefPatternWords(tool, pattern, (text) => inert(text).length <= LONGEST_WORDS);
  return words === undefined ? undefined : inert(words);
}

/** Cuts a text, but never inside a surrogate pair. */
function clip(text: string): string {
  return text.slice(0, LONGEST_DESCRIPTION).replace(/[\uD800-\uDBFF]$/, '');
}

/** The fixed arguments as one bit each, in base 36, to fit in a custom id. */
function maskOf(choices: readonly string[], fixed: ReadonlySet<string>): string {
  return choices.reduce((mask, name, index) => mask + (fixed.has(name) ? 2 ** index : 0), 0).toString(36);
}

/** The fixed arguments of a button's custom id. */
function unmask(choices: readonly string[], mask: string): ReadonlySet<string> {
  const bits = Number.parseInt(mask, 36);
  return new Set(choices.filter((_, index) => Math.floor(bits / 2 ** index) % 2 === 1));
}
