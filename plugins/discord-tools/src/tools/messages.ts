import {
  auditReason,
  compareIds,
  deleteOwn,
  editOwn,
  isOwnWebhookMessage,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { Routes } from 'discord.js';
import { channelField, messageField, readMessage, reasonField, textField } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { fitting, type MessageView, messageAt, messagesText, messageText, viewMessage } from '../message-view.js';
import {
  channelInSentence,
  channelPlace,
  channelText,
  messageChannelInSentence,
  messageOf,
  messagePlace,
  messageSources,
  placeOf,
  readableChannel,
  sendableChannel,
} from '../places.js';
import { demand, READING } from '../rights.js';
import { idsText, messageOptions, messagesFor, post, replyTarget } from '../sending.js';
import type { Context } from '../settings.js';

const MESSAGE_LIMIT = 2000;
const anchor = z.string().max(200).optional();

export function messageTools(context: Context): readonly ToolDefinition[] {
  const { client, sent } = context;
  return [
    discordTool({
      name: 'discord_send',
      description:
        'Send a message to a channel, thread or direct message, optionally as a reply. Returns the id of each message sent.',
      input: z.object({
        channelId: channelField,
        message: textField,
        replyToMessageId: z
          .string()
          .max(200)
          .optional()
          .describe('The message of the same channel to reply to: its id'),
      }),
      risk: 'write',
      permissions: ['ViewChannel', 'SendMessages'],
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: [
        'send {message} to the channel {channelId}',
        'post {message} in the channel {channelId}',
        'say {message} in the channel {channelId}',
        'write {message} in the channel {channelId}',
        'reply {message} to message {replyToMessageId} in {channelId}',
      ],
      async run({ channelId, message, replyToMessageId }, call) {
        const channel = await sendableChannel(client, channelId);
        const replyTo =
          replyToMessageId === undefined ? undefined : await replyTarget(context, call, channel, replyToMessageId);
        return post(context, call, channel, message, replyTo);
      },
      present: {
        sentence: ({ channelId }) =>
          t("I'll send a message in {channel}", { channel: channelInSentence(client, channelId) }),
        action: 'Send message',
        labels: { channelId: 'Channel', message: 'Message', replyToMessageId: 'Reply to' },
        success: (_, posted) =>
          t('✓ Sent in <#{channelId}>: {messages}.', { channelId: posted.channelId, messages: idsText(posted) }),
        cancelled: ({ channelId }) =>
          t('Cancelled the message in {channel}.', {
            channel: channelInSentence(client, channelId),
          }),
      },
    }),
    discordTool({
      name: 'discord_read_messages',
      description:
        'Read messages of a channel, thread or direct message, oldest first: the latest ones, or those before, after or around a message. Of what does not fit into a result the newest are shown, with how to read on.',
      input: z.object({
        channelId: channelField,
        limit: z.number().int().min(1).max(100).default(50).describe('How many messages, at most 100'),
        before: anchor.describe('Only messages before this one: its id'),
        after: anchor.describe('Only messages after this one: its id'),
        around: anchor.describe('Messages around this one: its id'),
      }),
      risk: 'read',
      permissions: READING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: [
        'read the last messages in {channelId}',
        'what was said in the channel {channelId}?',
        'show me the last {limit} messages in {channelId}',
        'read the channel {channelId}',
      ],
      async run({ channelId, limit, before, after, around }, call) {
        if ([before, after, around].filter((one) => one !== undefined).length > 1)
          throw new UserError(t('Only one of before, after and around can be given.'));
        const channel = await readableChannel(client, channelId);
        const idOf = (text: string) => readMessage(channel.id, text).messageId;
        const found = await channel.messages.fetch({
          limit,
          cache: false,
          ...(before === undefined ? {} : { before: idOf(before) }),
          ...(after === undefined ? {} : { after: idOf(after) }),
          ...(around === undefined ? {} : { around: idOf(around) }),
        });
        const all = [...found.values()].map(viewMessage).sort((one, other) => compareIds(one.id, other.id));
        // With `after`, the oldest of the following messages come first; otherwise the newest.
        const messages = fitting(all, call.mostCharacters, after === undefined ? 'end' : 'beginning');
        const left = all.length - messages.length;
        return {
          channelId: channel.id,
          channel: channelText(channel),
          messages,
          rest: left === 0 ? '' : restOf(left, messages, after !== undefined),
        };
      },
      sources: ({ messages }) => messageSources(client, messages),
      present: {
        sentence: ({ channelId }) =>
          t("I'll read messages in {channel}", { channel: channelInSentence(client, channelId) }),
        action: 'Read messages',
        success: (_, { channel, channelId, messages, rest }) =>
          messages.length === 0
            ? t('No messages in {channel} ({channelId}).', { channel, channelId })
            : `${readText(messages.length, channel, channelId, rest)}\n\n${messagesText(messages)}`,
      },
    }),
    discordTool({
      name: 'discord_read_message',
      description:
        'Read one message in full: text, author, time, attachments, embeds, reactions, and which message it answers. Takes a message link, too.',
      input: z.object({ channelId: channelField, messageId: messageField }),
      risk: 'read',
      permissions: READING,
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: ['read message {messageId} in {channelId}', 'what does message {messageId} in {channelId} say?'],
      run: async ({ channelId, messageId }) => viewMessage(await messageOf(client, channelId, messageId)),
      sources: (message) => messageSources(client, [message]),
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll read a message in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'Read message',
        success: (_, message) => messageText(message),
      },
    }),
    discordTool({
      name: 'discord_edit_message',
      description: 'Replace the text of a message that was sent with discord_send or discord_reply_to_forum.',
      input: z.object({
        channelId: channelField,
        messageId: messageField,
        content: z.string().min(1).max(MESSAGE_LIMIT).describe('The new text, at most 2,000 characters'),
      }),
      risk: 'write',
      idempotent: true,
      permissions: ['ViewChannel', 'SendMessages'],
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: [
        'edit message {messageId} in {channelId} to {content}',
        'change message {messageId} in {channelId} to {content}',
      ],
      async run({ channelId, messageId, content }, call) {
        const message = await messageOf(client, channelId, messageId);
        const [text = '', ...more] = await messagesFor(context, call, message.guildId, content);
        if (more.length > 0) throw new UserError(t('The text has to fit into one message.'));
        const whose = await sent.whose(message.channelId, message.id, call.actor);
        // The bot's cards, answers and notices record other members' decisions, and are never rewritten.
        if (whose === 'unknown')
          throw new UserError(t('I only edit messages that were sent with discord_send, and not too long ago.'));
        // Members rely on the text of a pinned message.
        if (message.pinned) throw new UserError(t('I do not edit pinned messages. Take it off the pins first.'));
        if (whose === 'others') await demand(context, call, placeOf(message.channel), 'ManageMessages');
        await editOwn(message, { content: text, ...(await messageOptions(context, call, message.channel, content)) });
        await sent.remember(message.channelId, [message.id], call.actor);
        return messageAt(message);
      },
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll edit a message of mine in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'Edit message',
        success: (_, { channelId, messageId }) =>
          t('✓ Edited message {messageId} in <#{channelId}>.', { messageId, channelId }),
        cancelled: () => t('Cancelled the edit.'),
      },
    }),
    discordTool({
      name: 'discord_delete_message',
      description: 'Delete a message.',
      input: z.object({ channelId: channelField, messageId: messageField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: ['ViewChannel', 'ReadMessageHistory'],
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: ['delete message {messageId} in {channelId}', 'remove message {messageId} from {channelId}'],
      async run({ channelId, messageId, reason }, call) {
        const message = await messageOf(client, channelId, messageId);
        // Members may delete their own messages, and those that the bot sent for them.
        const isTheirs =
          message.author.id === call.actor.userId ||
          (await sent.whose(message.channelId, message.id, call.actor)) === 'own';
        if (!isTheirs) await demand(context, call, placeOf(message.channel), 'ManageMessages');
        // A message under an agent's own name is deleted without a permission of the bot, and without an entry in the audit log.
        if (isTheirs && isOwnWebhookMessage(message)) {
          await deleteOwn(message);
          return messageAt(message);
        }
        // Not `message.delete()`, which accepts no reason.
        const options = { reason: auditReason(context.client, call.actor, reason) };
        await client.rest.delete(Routes.channelMessage(message.channelId, message.id), options);
        return messageAt(message);
      },
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll delete a message in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'Delete message',
        success: (_, { channelId, messageId }) =>
          t('✓ Deleted message {messageId} in <#{channelId}>.', { messageId, channelId }),
        cancelled: ({ messageId }) => t('Cancelled deleting message {messageId}.', { messageId }),
      },
    }),
    pinTool(context, 'pin', 'Pin a message in its channel.'),
    pinTool(context, 'unpin', 'Take a pinned message off the pins of its channel.'),
    discordTool({
      name: 'discord_list_pins',
      description: 'Read the pinned messages of a channel, the latest pin first.',
      input: z.object({
        channelId: channelField,
        limit: z.number().int().min(1).max(50).default(20).describe('How many, at most 50'),
      }),
      risk: 'read',
      permissions: READING,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['what is pinned in {channelId}?', 'show the pinned messages in {channelId}'],
      async run({ channelId, limit }) {
        const channel = await readableChannel(client, channelId);
        const { items, hasMore } = await channel.messages.fetchPins({ limit, cache: false });
        return {
          channel: channelText(channel),
          messages: items.map(({ message }) => viewMessage(message)),
          more: hasMore,
        };
      },
      sources: ({ messages }) => messageSources(client, messages),
      present: {
        sentence: ({ channelId }) =>
          t("I'll read the pinned messages in {channel}", {
            channel: channelInSentence(client, channelId),
          }),
        action: 'Read pinned messages',
        success: (_, { channel, messages, more }) =>
          messages.length === 0
            ? t('Nothing is pinned in {channel}.', { channel })
            : `${pinsText(messages.length, more, channel)}\n\n${messagesText(messages)}`,
      },
    }),
  ];
}

function pinTool(context: Context, verb: 'pin' | 'unpin', description: string): ToolDefinition {
  const { client } = context;
  return discordTool({
    name: `discord_${verb}_message`,
    description,
    input: z.object({ channelId: channelField, messageId: messageField, reason: reasonField }),
    risk: 'write',
    idempotent: true,
    permissions: ['ViewChannel', 'ReadMessageHistory', 'PinMessages'],
    place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
    examples: [`${verb} message {messageId} in {channelId}`],
    async run({ channelId, messageId, reason }, call) {
      const message = await messageOf(client, channelId, messageId);
      await message[verb](auditReason(context.client, call.actor, reason));
      return messageAt(message);
    },
    present: {
      sentence: ({ channelId, messageId }) =>
        t("I'll {verb, select, pin {pin} other {unpin}} a message in {channel}", {
          verb,
          channel: messageChannelInSentence(client, channelId, messageId),
        }),
      action: verb === 'pin' ? 'Pin message' : 'Unpin message',
      success: (_, { channelId, messageId }) =>
        t('✓ {verb, select, pin {Pinned} other {Unpinned}} message {messageId} in <#{channelId}>.', {
          verb,
          messageId,
          channelId,
        }),
      cancelled: ({ messageId }) => t('Cancelled: message {messageId} stays as it is.', { messageId }),
    },
  });
}

/** A note on how to get the messages that did not fit. */
function restOf(left: number, messages: readonly MessageView[], isForwards: boolean): string {
  return isForwards
    ? t('{left} newer did not fit: read on with after: {id}.', { left, id: messages.at(-1)?.id ?? '' })
    : t('{left} older did not fit: read on with before: {id}.', { left, id: messages[0]?.id ?? '' });
}

const readText = (count: number, channel: string, channelId: string, rest: string) => {
  const all = t('{count} messages in {channel} ({channelId}), oldest first.', { count, channel, channelId });
  return rest === '' ? all : `${all} ${rest}`;
};

const pinsText = (count: number, more: boolean, channel: string) =>
  more
    ? t('{count} of the pinned messages in {channel}:', { count, channel })
    : t('{count} pinned messages in {channel}:', { count, channel });
