import { isRefusal, sendOnce, type ToolCall } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { Drawing } from '../card/draw.js';
import { inert } from '../card/value.js';
import { NO_PINGS } from '../discord/say.js';
import { decideWithinMs, type Rules } from '../settings.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { AskingParts } from './ask.js';
import { type Controls, markRow } from './controls.js';

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
 * nothing in the channel or something to find it by; and its time starts when Discord has confirmed it. Where Discord confirms nothing, the
 * record stays: the card may be there all the same, and is looked for later. Discord's refusal is certain.
 */
export async function deliver(
  { board, records, clock, signal, buttons }: Pick<AskingParts, 'board' | 'records' | 'clock' | 'signal' | 'buttons'>,
  { call, request, rules, drawing, controls, channel }: Delivery,
): Promise<WaitingCard> {
  const { id: callId, actor } = call;
  const { content, file } = drawing;
  const { userId, guildId, channelId } = actor;
  const hasButtons = controls.buttons;
  const cancelled = inert(call.card.cancelled);
  const after = channel.lastMessageId ?? '0';
  await records.save(callId, { userId, guildId, channelId, content, after, hasButtons, cancelled });
  const message = {
    content,
    components: [hasButtons ? controls.row(buttons) : markRow(buttons)],
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
  const { sentence } = call.card;
  const place = { userId, guildId, channelId, messageId };
  const card = { callId, ...place, sentence, content, hasButtons, expiresAt, request };
  board.add(card);
  return card;
}
