import { type Channel, MessageFlags, type MessageMentionOptions } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { may } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';
import { mentionsIn } from './mentions.js';

/** How a text is sent, so that it does no more than it would if whoever asks had sent it. */
export interface Manner {
  readonly allowedMentions: MessageMentionOptions;
  readonly flags?: MessageFlags.SuppressEmbeds;
}

/** Pings as in `mentionsIn`, nobody by a reply; and what links lead to is shown for who may embed links there. */
export async function mannerOf(
  parts: Pick<Parts, 'access'>,
  caller: Caller,
  channel: Channel,
  text: string,
): Promise<Manner> {
  const allowedMentions = { ...(await mentionsIn(parts, caller, channel, text)), repliedUser: false };
  const isShown = !/https?:\/\//i.test(text) || (await may(parts, caller, placeOf(channel), ['EmbedLinks']));
  return { allowedMentions, ...(isShown ? {} : { flags: MessageFlags.SuppressEmbeds }) };
}
