import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { readableChannel } from '../../reaching/channels.js';
import { channelField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { readMessage } from '../../reaching/references.js';
import { type MessageView, viewMessage } from '../../reading/message.js';
import { fitting, messagesText } from '../../reading/message-text.js';
import { channelInSentence, channelText } from '../../reading/names.js';
import { messageSources } from '../../reading/sources.js';

const anchor = z.string().max(200).optional();
const input = z.object({
  channelId: channelField,
  limit: z.number().int().min(1).max(100).default(50).describe('How many messages, at most 100'),
  before: anchor.describe('Only messages before this one: its id'),
  after: anchor.describe('Only messages after this one: its id'),
  around: anchor.describe('Messages around this one: its id'),
});

interface Read {
  readonly channelId: string;
  readonly channel: string;
  /** Oldest first. */
  readonly messages: readonly MessageView[];
  /** How to get those that did not fit; missing when all did. */
  readonly rest?: string;
}

export function readMessages(parts: Parts): ToolDefinition<typeof input, Read> {
  return {
    name: 'discord_read_messages',
    description:
      'Read messages of a channel, thread or direct message, oldest first: the latest ones, or those before, after or around a message. Of what does not fit into a result the newest are shown, with how to read on.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    sources: ({ messages }) => messageSources(parts.client, messages),
    examples: [
      'read the last messages in {channelId}',
      'what was said in the channel {channelId}?',
      'show me the last {limit} messages in {channelId}',
      'read the channel {channelId}',
    ],
    present: {
      sentence: ({ channelId }) => `I'll read messages in ${channelInSentence(parts.client, channelId)}`,
      action: 'Read messages',
      success: (_, { channel, channelId, messages, rest = '' }) =>
        messages.length === 0
          ? `No messages in ${channel} (${channelId}).`
          : `${messages.length} messages in ${channel} (${channelId}), oldest first.${rest}\n\n${messagesText(messages)}`,
    },
    async run({ channelId, limit, before, after, around }, { mostCharacters }) {
      if ([before, after, around].filter((one) => one !== undefined).length > 1)
        throw new UserError('Only one of before, after and around can be given.');
      const channel = await readableChannel(parts.client, channelId);
      const idOf = (text: string) => readMessage(channel.id, text).messageId;
      const found = await channel.messages.fetch({
        limit,
        cache: false,
        ...(before === undefined ? {} : { before: idOf(before) }),
        ...(after === undefined ? {} : { after: idOf(after) }),
        ...(around === undefined ? {} : { around: idOf(around) }),
      });
      const all = [...found.values()].map(viewMessage).sort(olderFirst);
      // Who reads on from a message wants what follows it; everybody else the newest.
      const messages = fitting(all, mostCharacters, after === undefined ? 'end' : 'beginning');
      const left = all.length - messages.length;
      return {
        channelId: channel.id,
        channel: channelText(channel),
        messages,
        ...(left === 0 ? {} : { rest: restOf(left, messages, after !== undefined) }),
      };
    },
  };
}

function restOf(left: number, messages: readonly MessageView[], isForwards: boolean): string {
  const many = `${left} ${isForwards ? 'newer' : 'older'} did not fit`;
  return isForwards
    ? ` ${many}: read on with after: ${messages.at(-1)?.id}.`
    : ` ${many}: read on with before: ${messages[0]?.id}.`;
}

function olderFirst(one: MessageView, other: MessageView): number {
  return BigInt(one.id) < BigInt(other.id) ? -1 : 1;
}
