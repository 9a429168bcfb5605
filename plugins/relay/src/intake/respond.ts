import { type ComponentHandle, type ComponentInteraction, type Turn, t, UserError } from '@cinnabar/sdk';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle } from 'discord.js';
import {
  assertLetIn,
  cancelForbidden,
  directKey,
  directMessagesOff,
  grantOf,
  guildIdentity,
  isLetInto,
  PLUGIN,
  placesOf,
} from '../agents/permissions.js';
import { byKey, type Chosen, chooseAgent, type GuildAgent, modeOf, namedIn, type Roster } from '../agents/roster.js';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { turnEvent } from '../events/message-event.js';
import { rulesIn } from '../settings.js';

/**
 * Accepts a turn for an agent; resolves when it is in the queue's journal.
 * @throws UserError with the reason if no agent will receive it
 */
export async function respond(turn: Turn, consentButton: ComponentHandle, relay: Relay): Promise<void> {
  const { settings, ownThreads, clock, log } = relay;
  const { guildId } = turn.actor;
  const agent =
    guildId === null ? await directAgent(turn, consentButton, relay) : await guildAgent(turn, guildId, relay);
  if (agent === undefined) return;
  const { reply_thread_depth: depth } = await rulesIn(settings, guildId, turn.user.id);
  const opensThread = turn.message !== null && (await ownThreads.wasFirst(turn.message));
  await enqueue(await turnEvent(turn, { agent, opensThread, depth, clock, log }), relay);
}

/**
 * Adds an event to the queue, within the guild's budget.
 * @throws UserError if it is refused
 */
export async function enqueue(event: RelayEvent, { queue, budget, outages }: Relay): Promise<void> {
  const refusal = await budget.refusal(event.guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  const { status } = await queue.enqueue(event);
  if (status === 'refused') {
    throw new UserError(t('Too many messages are waiting for the agent already. Please try again in a while.'));
  }
  if (status === 'taken') await outages.eventQueued(event);
}

/** The key of the agent; `undefined` when the person was asked for consent. A yes hands the same message in again. */
async function directAgent(turn: Turn, consentButton: ComponentHandle, relay: Relay): Promise<string | undefined> {
  const agent = await relay.dmAgents.agentOf(turn.user.id);
  if (agent === undefined)
    throw new UserError(t('No agent answers direct messages here: the owner of the bot has chosen none.'));
  return (await consentTo(turn, consentButton, relay)) ? agent.key : undefined;
}

async function guildAgent(turn: Turn, guildId: string, relay: Relay): Promise<string> {
  const { channel, trigger } = turn;
  const roster = relay.rosters.enabled(guildId);
  if (roster === undefined)
    throw new UserError(
      t('The agents of this server are switched off. An admin can switch them on with `relay enable`.'),
    );
  if (modeOf(roster, placesOf(channel)) === 'off') {
    throw new UserError(
      t('Nothing reaches the agents from this channel: its mode is `off`. An admin can change that with `relay mode`.'),
    );
  }
  const chosen = await chosenFor(turn, await grantedIn(channel, guildId, roster, relay), relay);
  if (chosen === undefined)
    throw new UserError(t('No agent answers here yet. An admin can let one in with `relay agent <id>`.'));
  await assertLetIn(relay.identities, guildId, chosen, channel);
  relay.log.debug('a turn is for an agent', { turnId: turn.id, trigger, agent: chosen.key });
  return chosen.key;
}

/** The roster with only the agents that have a grant for the channel; with all of them if none has, so that the error can name one. */
async function grantedIn(channel: Turn['channel'], guildId: string, roster: Roster, { identities }: Relay) {
  const granted: [string, GuildAgent][] = [];
  for (const [key, agent] of Object.entries(roster.agents)) {
    const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
    if (grant !== undefined && isLetInto(grant.channels, channel)) granted.push([key, agent]);
  }
  return granted.length === 0 ? roster : { ...roster, agents: Object.fromEntries(granted) };
}

/** The agent that the text names, otherwise the author of the message that is replied to, otherwise the channel's, the default, or the only one. */
async function chosenFor(
  { text, channel, message }: Turn,
  roster: Roster,
  { authors }: Relay,
): Promise<Chosen | undefined> {
  const repliedTo = message?.reference?.messageId;
  const author = repliedTo === undefined ? undefined : await authors.agentOf(channel.id, repliedTo);
  const [only, ...others] = Object.keys(roster.agents);
  return (
    namedIn(roster, text) ??
    byKey(roster, author) ??
    chooseAgent(roster, placesOf(channel), text) ??
    (others.length === 0 ? byKey(roster, only) : undefined)
  );
}

export const switchedOn = () =>
  t(
    'An agent answers your direct messages from now on, where `relay` does (`ai use relay`). What you write is sent to the Letta server. `relay dm off` ends it.',
  );
export const switchedOff = () => t('No agent reads your direct messages. `relay dm on` changes that.');

/**
 * Whether an agent may read the user's direct messages. A user who has not decided is asked once, with two buttons.
 * @throws UserError if it may not, with the command that changes this
 */
async function consentTo(turn: Turn, button: ComponentHandle, relay: Relay): Promise<boolean> {
  const { dmAgents, settings } = relay;
  const userId = turn.user.id;
  if (await directMessagesOff(userId, relay)) {
    throw new UserError(t('The servers that we share have switched off answers to direct messages.'));
  }
  const { dm } = await settings.user(userId).get();
  if (dm === 'on') return true;
  if (dm === 'off') throw new UserError(switchedOff());
  const isOwn = (await dmAgents.agentOf(userId))?.key === directKey(userId);
  if (!(await dmAgents.noteAsked(userId))) {
    throw new UserError(
      t('You have not said yet whether an agent may read your direct messages: `relay dm on`, or `relay dm off`.'),
    );
  }
  const shares = isOwn
    ? t('It answers nobody else.')
    : t('It answers other people, too, with the same memory: write nothing that they must not learn.');
  await turn.reply({
    notice: true,
    content: t(
      'An agent can answer you here. What you write in this conversation is then sent to a Letta server, and the agent remembers it. {shares} Do you want that?',
      { shares },
    ),
    components: [buttons(button, turn.message?.id ?? '')],
  });
  return false;
}

function buttons(button: ComponentHandle, messageId: string): ActionRowBuilder<ButtonBuilder> {
  const of = (choice: 'on' | 'off', label: string, style: ButtonStyle) =>
    new ButtonBuilder().setCustomId(button.customId(choice, messageId)).setLabel(label).setStyle(style);
  return new ActionRowBuilder<ButtonBuilder>().addComponents(
    of('on', t('Yes, answer me'), ButtonStyle.Primary),
    of('off', t('No'), ButtonStyle.Secondary),
  );
}

/** Handles the consent buttons. After a yes, the first message is handed in again, so that the user need not repeat it. */
export function onConsent(relay: Relay) {
  return async (interaction: ComponentInteraction, [choice, messageId]: readonly string[]): Promise<void> => {
    if (!interaction.isButton()) return;
    const dm = choice === 'on' ? 'on' : 'off';
    await relay.settings.user(interaction.user.id).set({ dm });
    if (dm === 'off') await cancelForbidden(null, relay);
    await interaction.update({ content: dm === 'on' ? switchedOn() : switchedOff(), components: [] });
    if (dm === 'off' || messageId === undefined || messageId === '') return;
    const message = await interaction.channel?.messages.fetch(messageId).catch(() => undefined);
    if (message?.author.id !== interaction.user.id) return;
    await relay.frontDoor?.take(message, { trigger: 'dm', responder: PLUGIN });
  };
}
