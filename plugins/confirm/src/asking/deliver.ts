import type { ToolCall } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { Drawing } from '../card/draw.js';
import { isRefusal } from '../discord/errors.js';
import { NO_PINGS, once } from '../discord/say.js';
import type { Rules } from '../settings.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { AskingParts } from './ask.js';
import type { Controls } from './controls.js';

export interface Delivery {
  readonly call: ToolCall;
  readonly request: Request;
  readonly rules: Rules;
  readonly drawing: Drawing;
  readonly controls: Controls;
  readonly channel: SendableChannels;
}

/**
 * Posts the card and puts it on the board. It is on record before it is posted, so that a crash at any moment leaves either
 * nothing in the channel or something to find it by; and its time starts when Discord has confirmed it.
 */
export async function deliver(
  { board, records, clock, buttons }: Pick<AskingParts, 'board' | 'records' | 'clock' | 'buttons'>,
  { call, request, rules, drawing, controls, channel }: Delivery,
): Promise<WaitingCard> {
  const { id: callId, actor } = call;
  const { content, file } = drawing;
  const { userId, guildId, channelId } = actor;
  await records.save(callId, { userId, guildId, channelId, content, after: channel.lastMessageId ?? '0' });
  const post = async (): Promise<string> => {
    const { id } = await channel.send({
      content,
      components: controls.buttons ? [controls.row(buttons)] : [],
      files: file === undefined ? [] : [{ name: file.name, attachment: Buffer.from(file.json) }],
      allowedMentions: NO_PINGS,
      ...once(callId, 'c'),
    });
    return id;
  };
  const messageId = await postSafely(post, () => records.delete(callId));
  const expiresAt = clock.now() + rules.timeLimit * 1000;
  await records.change(callId, { messageId });
  const { sentence } = call.card;
  const place = { userId, guildId, channelId, messageId };
  const card = { callId, ...place, sentence, content, hasButtons: controls.buttons, expiresAt, request };
  board.add(card);
  return card;
}

/**
 * After a broken connection the card may be there or not; the nonce makes asking again safe. When that breaks, too, the record stays,
 * and the next start finds what there is. Discord's refusal is certain.
 */
async function postSafely(post: () => Promise<string>, onRefusal: () => Promise<void>): Promise<string> {
  try {
    return await post().catch((error: unknown) => (isRefusal(error) ? Promise.reject(error) : post()));
  } catch (error) {
    if (isRefusal(error)) await onRefusal();
    throw error;
  }
}
