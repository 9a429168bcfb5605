import { textMessages } from '@cinnabar/sdk';
import { MessageFlags, type RepliableInteraction } from 'discord.js';

/** Tells the person who used a command or component something that only they see, whether or not it was answered already. */
export async function notice(interaction: RepliableInteraction, text: string): Promise<void> {
  for (const part of textMessages(text)) {
    const body = { ...part, flags: MessageFlags.Ephemeral, allowedMentions: { parse: [] } } as const;
    if (interaction.replied || interaction.deferred) await interaction.followUp(body);
    else await interaction.reply(body);
  }
}
