import { splitMessage } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';

const MESSAGE_LIMIT = 2000;

/** Whoever is named in a card or an answer is not pinged by it. */
export const NO_PINGS = { parse: [], repliedUser: false } as const;

/** Discord's limit for a nonce. */
const NONCE_LENGTH = 25;

/** Makes Discord take a request that a broken connection repeats for the one that it has carried out already. */
export function once(callId: string, part: string) {
  return { nonce: part + callId.slice(part.length - NONCE_LENGTH), enforceNonce: true } as const;
}

/** Sends the answer to a call, as one message or several. */
export async function say(channel: SendableChannels, callId: string, text: string): Promise<void> {
  for (const [index, content] of splitMessage(text, MESSAGE_LIMIT).entries()) {
    await channel.send({ content, allowedMentions: NO_PINGS, ...once(callId, String(index)) });
  }
}
