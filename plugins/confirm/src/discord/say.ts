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

/** A tool may answer with a whole document: more messages than this would bury the conversation. */
const MOST_MESSAGES = 3;

/** Sends the answer to a call, as one message or several; a very long one as its beginning, with all of it attached. */
export async function say(channel: SendableChannels, callId: string, text: string): Promise<void> {
  const parts = splitMessage(text, MESSAGE_LIMIT);
  const attached = parts.length > MOST_MESSAGES;
  for (const [index, content] of parts.slice(0, attached ? 1 : parts.length).entries()) {
    const files = attached ? { files: [{ name: 'result.txt', attachment: Buffer.from(text) }] } : {};
    await channel.send({ content, ...files, allowedMentions: NO_PINGS, ...once(callId, String(index)) });
  }
}
