import { isDotMessage, type Logger, withoutNotes } from '@cinnabar/sdk';
import { type Client, DiscordAPIError, type Message, RESTJSONErrorCodes } from 'discord.js';
import type { RelayEvent } from '../types.js';
import { attachmentFacts } from './facts.js';
import { isCommand } from './message-event.js';

/**
 * A message event as the message reads by now: `undefined` when it has been deleted, or edited into a dot message, while it waited. Looked up when the agent is told, so it
 * holds for what was waiting over a restart, too. Where Discord does not say, the event stays as it was.
 */
export async function asItIsNow(event: RelayEvent, client: Client, log: Logger): Promise<RelayEvent | undefined> {
  const { messageId } = event.facts;
  if (messageId === null || event.kind === 'reaction') return event;
  const message = await lookUp(event.channelId, messageId, client, log);
  if (message === 'deleted') return undefined;
  return message === undefined ? event : edited(event, message);
}

async function lookUp(
  channelId: string,
  messageId: string,
  client: Client,
  log: Logger,
): Promise<Message | 'deleted' | undefined> {
  try {
    const channel = await client.channels.fetch(channelId);
    return channel?.isTextBased() === true ? await channel.messages.fetch(messageId) : undefined;
  } catch (error) {
    if (isGone(error)) return 'deleted';
    log.info('a message that waited for an agent could not be looked up', { channelId, messageId, error });
    return undefined;
  }
}

/** Whether Discord says that there is no such message, or channel any more. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof DiscordAPIError)) return false;
  const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
  return error.code === UnknownMessage || error.code === UnknownChannel;
}

function edited(event: RelayEvent, message: Message): RelayEvent | undefined {
  // What was said by a command stays as it was when the command ran.
  if (message.editedTimestamp === null || isCommand(event)) return event;
  if (isDotMessage(message.content)) return undefined;
  return {
    ...event,
    facts: { ...event.facts, content: withoutNotes(message.content), attachments: attachmentFacts(message) },
  };
}
