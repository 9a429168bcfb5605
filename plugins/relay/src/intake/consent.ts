import { type ComponentHandle, type ComponentInteraction, type Turn, UserError } from '@cinnabar/sdk';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle } from 'discord.js';
import { directKey, PLUGIN } from '../agents/grants.js';
import { cancelForbidden, directMessagesOff } from '../agents/permissions.js';
import type { Relay } from '../context.js';

export const ON =
  'An agent answers your direct messages from now on, where `relay` does (`ai use relay`). What you write is sent to the Letta server. `relay dm off` ends it.';
export const OFF = 'No agent reads your direct messages. `relay dm on` changes that.';

/**
 * Whether an agent may read the direct messages of the turn's user. A user who has not decided is asked, once, with two buttons.
 * @throws UserError when it may not, with how to change that
 */
export async function consentTo(turn: Turn, button: ComponentHandle, relay: Relay): Promise<boolean> {
  const { dmAgents, settings } = relay;
  const userId = turn.user.id;
  if (await directMessagesOff(userId, relay)) {
    throw new UserError('The servers that we share have switched off answers to direct messages.');
  }
  const { dm } = await settings.user(userId).get();
  if (dm === 'on') return true;
  if (dm === 'off') throw new UserError(OFF);
  const isOwn = (await dmAgents.agentOf(userId))?.key === directKey(userId);
  if (!(await dmAgents.noteAsked(userId))) {
    throw new UserError(
      'You have not said yet whether an agent may read your direct messages: `relay dm on`, or `relay dm off`.',
    );
  }
  const shares = isOwn
    ? 'It answers nobody else.'
    : 'It answers other people, too, with the same memory: write nothing that they must not learn.';
  await turn.reply({
    notice: true,
    content: `An agent can answer you here. What you write in this conversation is then sent to a Letta server, and the agent remembers it. ${shares} Do you want that?`,
    components: [buttons(button, turn.message?.id ?? '')],
  });
  return false;
}

function buttons(button: ComponentHandle, messageId: string): ActionRowBuilder<ButtonBuilder> {
  const of = (choice: 'on' | 'off', label: string, style: ButtonStyle) =>
    new ButtonBuilder().setCustomId(button.customId(choice, messageId)).setLabel(label).setStyle(style);
  return new ActionRowBuilder<ButtonBuilder>().addComponents(
    of('on', 'Yes, answer me', ButtonStyle.Primary),
    of('off', 'No', ButtonStyle.Secondary),
  );
}

/** Handles the buttons. After a yes, the first message is handed in again, so that the member need not repeat it. */
export function onConsent(relay: Relay) {
  return async (interaction: ComponentInteraction, [choice, messageId]: readonly string[]): Promise<void> => {
    if (!interaction.isButton()) return;
    const dm = choice === 'on' ? 'on' : 'off';
    await relay.settings.user(interaction.user.id).set({ dm });
    if (dm === 'off') await cancelForbidden(null, relay);
    await interaction.update({ content: dm === 'on' ? ON : OFF, components: [] });
    if (dm === 'off' || messageId === undefined || messageId === '') return;
    const message = await interaction.channel?.messages.fetch(messageId).catch(() => undefined);
    if (message?.author.id !== interaction.user.id) return;
    await relay.frontDoor?.take(message, { trigger: 'dm', responder: PLUGIN });
  };
}
