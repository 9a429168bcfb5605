import { UserError } from '@cinnabar/sdk';
import type { Message, PartialGroupDMChannel, SendableChannels } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { isGone } from '../reaching/discord-errors.js';
import { demand } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';
import { readMessage } from '../reaching/references.js';

/** The message that a new one is to answer: one of the same channel. @throws UserError */
export async function replyTarget(
  parts: Pick<Parts, 'access'>,
  caller: Caller,
  channel: Exclude<SendableChannels, PartialGroupDMChannel>,
  message: string,
): Promise<Message> {
  const reference = readMessage(channel.id, message);
  // Nothing is said about whether the message exists: it is not within what was asked for.
  if (reference.channel.channelId !== channel.id)
    throw new UserError('A reply has to be in the same channel as its message.');
  await demand(parts, caller, placeOf(channel), 'ReadMessageHistory');
  try {
    return await channel.messages.fetch({ message: reference.messageId, force: true });
  } catch (error) {
    if (isGone(error)) throw new UserError('The message to reply to is not in this channel.');
    throw error;
  }
}
