import { type ComponentHandle, type ComponentInteraction, type FrontDoor, type Turn, UserError } from '@cinnabar/sdk';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, type Client } from 'discord.js';
import type { Directs } from '../agents/dm-agents.js';
import { directKey, PLUGIN } from '../agents/grants.js';
import type { Rosters } from '../agents/roster.js';
import { OFF, ON } from '../commands/direct.js';
import { type RelaySettings, rulesIn } from '../settings.js';

export interface Consent {
  readonly directs: Directs;
  readonly rosters: Rosters;
  readonly settings: RelaySettings;
  readonly client: Client;
  /** The button under the question. */
  readonly button: ComponentHandle;
}

/**
 * Whether what somebody writes in a direct message may go to an agent. Who has not said is asked, once, with two buttons.
 * @throws UserError when it may not, with how to change that
 */
export async function consentTo(turn: Turn, parts: Consent): Promise<boolean> {
  const { directs, settings } = parts;
  const userId = turn.user.id;
  if (await isShut(userId, parts)) {
    throw new UserError('The servers that we share have switched off answers to direct messages.');
  }
  const { dm } = await settings.user(userId).get();
  if (dm === 'on') return true;
  if (dm === 'off') throw new UserError(OFF);
  const own = (await directs.agentOf(userId))?.key === directKey(userId);
  if (!(await directs.ask(userId))) {
    throw new UserError(
      'You have not said yet whether an agent may read your direct messages: `relay dm on`, or `relay dm off`.',
    );
  }
  await turn.reply({
    notice: true,
    content: `An agent can answer you here. What you write in this conversation is then sent to a Letta server, and the agent remembers it. ${shares(own)} Do you want that?`,
    components: [buttons(parts.button, turn.message?.id ?? '')],
  });
  return false;
}

function shares(own: boolean): string {
  return own
    ? 'It answers nobody else.'
    : 'It answers other people, too, with the same memory: write nothing that they must not learn.';
}

function buttons(button: ComponentHandle, messageId: string): ActionRowBuilder<ButtonBuilder> {
  const of = (choice: 'on' | 'off', label: string, style: ButtonStyle) =>
    new ButtonBuilder().setCustomId(button.customId(choice, messageId)).setLabel(label).setStyle(style);
  return new ActionRowBuilder<ButtonBuilder>().addComponents(
    of('on', 'Yes, answer me', ButtonStyle.Primary),
    of('off', 'No', ButtonStyle.Secondary),
  );
}

/** Whether the person's servers with agents have all switched direct messages off. */
export async function isShut(
  userId: string,
  { rosters, settings, client }: Pick<Consent, 'rosters' | 'settings' | 'client'>,
): Promise<boolean> {
  let shared = 0;
  for (const [guildId, { enabled }] of rosters.all()) {
    const guild = enabled ? client.guilds.cache.get(guildId) : undefined;
    const member = await guild?.members.fetch(userId).catch(() => undefined);
    if (member === undefined) continue;
    if ((await rulesIn(settings, guildId)).enable_dm_responses) return false;
    shared += 1;
  }
  return shared > 0;
}

interface ConsentGiven {
  readonly settings: RelaySettings;
  /** Called after a member has said no. */
  readonly onRefused: () => Promise<unknown>;
  readonly frontDoor: FrontDoor | undefined;
}

/** The answer to the question. Their first message is handed in again: nobody has to repeat themselves. */
export function onConsent({ settings, frontDoor, onRefused }: ConsentGiven) {
  return async (interaction: ComponentInteraction, [choice, messageId]: readonly string[]): Promise<void> => {
    if (!interaction.isButton()) return;
    const dm = choice === 'on' ? 'on' : 'off';
    await settings.user(interaction.user.id).set({ dm });
    if (dm === 'off') await onRefused();
    await interaction.update({ content: dm === 'on' ? ON : OFF, components: [] });
    if (dm === 'off' || messageId === undefined || messageId === '') return;
    const message = await interaction.channel?.messages.fetch(messageId).catch(() => undefined);
    if (message?.author.id !== interaction.user.id) return;
    await frontDoor?.take(message, { trigger: 'dm', responder: PLUGIN });
  };
}
