import type { Clock, Logger } from '@cinnabar/sdk';
import type { Channel, ChatInputCommandInteraction, GuildMember } from 'discord.js';
import { answerInteraction } from '../answers/slash.js';
import type { CommandEntry } from '../registry/entry.js';
import { type Execution, execute } from './execute.js';
import { attachmentsOf, givenBy } from './slash-options.js';

interface Parts {
  readonly execution: Execution;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs the command that a slash interaction names. */
export function runInteraction(
  { execution, clock, log }: Parts,
  interaction: ChatInputCommandInteraction,
  entry: CommandEntry,
): Promise<void> {
  const { lost } = execution;
  return execute(execution, {
    entry,
    source: 'slash',
    prefix: '/',
    actor: { userId: interaction.user.id, guildId: interaction.guildId, channelId: interaction.channelId },
    place: {
      client: interaction.client,
      guild: interaction.guild,
      user: interaction.user,
      attachments: attachmentsOf(interaction),
    },
    message: null,
    answers: answerInteraction(interaction, {
      clock,
      log,
      lost,
      signal: entry.owner.scope.signal,
      ephemeral: entry.ephemeral,
    }),
    channel: () => channelOf(interaction),
    member: () => memberOf(interaction),
    given: () => ({ given: givenBy(interaction) }),
    show: ({ sentence }) => sentence,
  });
}

async function channelOf(interaction: ChatInputCommandInteraction): Promise<Channel> {
  const channel = interaction.channel ?? (await interaction.client.channels.fetch(interaction.channelId));
  if (channel === null) throw new Error(`channel ${interaction.channelId} of a slash command cannot be fetched`);
  return channel;
}

function memberOf(interaction: ChatInputCommandInteraction): GuildMember | null {
  return interaction.inCachedGuild() ? interaction.member : null;
}
