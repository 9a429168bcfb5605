import { splitMessage } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';

const MESSAGE_LIMIT = 2000;

/** Whoever is named in a card or an answer is not pinged by it. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

/** Sends text as one message or several. */
export async function say(channel: SendableChannels, text: string): Promise<void> {
  for (const content of splitMessage(text, MESSAGE_LIMIT)) await channel.send({ content, allowedMentions: NO_PINGS });
}
