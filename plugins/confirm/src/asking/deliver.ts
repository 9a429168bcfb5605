import { isRefusal, sendOnce } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import { inert } from '../card/value.js';
import { NO_PINGS } from '../discord/say.js';
import { decideWithinMs, type Rules } from '../settings.js';
import { type Request, requestsOf, type WaitingCard } from '../waiting/card.js';
import type { AskingParts } from './ask.js';
import { FRESH } from './face.js';

export interface Delivery extends Pick<WaitingCard, 'request' | 'others' | 'draw'> {
  readonly rules: Rules;
  readonly channel: SendableChannels;
}

/**
 * Posts the card and puts it on the board. It is on record before it is posted, so that a crash at any moment leaves either
 * nothing in the channel or something to find it by; and its time starts when Discord has confirmed it. Where Discord confirms nothing, the
 * record stays: the card may be there all the same, and is looked for later. Discord's refusal is certain.
 */
export async function deliver(
  { board, records, clock, signal }: Pick<AskingParts, 'board' | 'records' | 'clock' | 'signal'>,
  { request, others, rules, draw, channel }: Delivery,
): Promise<WaitingCard> {
  const { call } = request;
  const { id: callId, actor } = call;
  const { userId, guildId, channelId } = actor;
  const { content, file, components } = draw(FRESH);
  const also = others.map((other) => ({ callId: other.call.id, ...wordsOf(other) }));
  const after = channel.lastMessageId ?? '0';
  await records.save(callId, { userId, guildId, channelId, content, after, ...wordsOf(request), also });
  const message = {
    content,
    components,
    files: file === undefined ? [] : [{ name: file.name, attachment: Buffer.from(file.json) }],
    allowedMentions: call.session?.mention === true ? { ...NO_PINGS, users: [userId] } : NO_PINGS,
  };
  const posted = sendOnce(channel, message, `confirm:${callId}:card`, { clock, signal });
  const { id: messageId } = await posted.catch(async (error: unknown) => {
    if (isRefusal(error)) await records.delete(callId);
    throw error;
  });
  const expiresAt = clock.now() + decideWithinMs(call, rules);
  await records.change(callId, { messageId, expiresAt });
  const sentence = sentenceOf({ request, others });
  const place = { userId, guildId, channelId, messageId };
  const state = FRESH;
  const card = { callId, ...place, sentence, draw, state, drawn: Promise.resolve(), expiresAt, request, others };
  board.add(card);
  return card;
}

function wordsOf({ call }: Request) {
  return { sentence: call.card.sentence, cancelled: inert(call.card.cancelled) };
}

function sentenceOf(card: Pick<WaitingCard, 'request' | 'others'>): string {
  return requestsOf(card)
    .map(({ call }) => call.card.sentence)
    .join('; ');
}
