import { nameText, type ToolDefinition, t, UserError, z } from '@cinnabar/sdk';
import { type Client, type Message, type MessageReaction, parseEmoji } from 'discord.js';
import { channelField, emojiField, messageField, readId } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { messageAt } from '../message-view.js';
import { messageChannelInSentence, messageOf, messagePlace, placeOf } from '../places.js';
import { demand, may, READING } from '../rights.js';
import { stopWhenCancelled } from '../sending.js';
import type { Caller, Context } from '../settings.js';

const REACTING = ['ViewChannel', 'ReadMessageHistory', 'AddReactions'] as const;

export function reactionTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_add_reaction',
      description: 'React to a message with an emoji.',
      input: z.object({
        channelId: channelField,
        messageId: messageField,
        emoji: emojiField,
      }),
      risk: 'write',
      idempotent: true,
      permissions: REACTING,
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: [
        'react with {emoji} to message {messageId} in {channelId}',
        'add {emoji} to message {messageId} in {channelId}',
      ],
      async run({ channelId, messageId, emoji }, call) {
        const message = await messageOf(client, channelId, messageId);
        const read = readEmoji(client, message, emoji);
        await requireUsable(context, call, message, read);
        await message.react(read.key);
        return messageAt(message);
      },
      present: {
        sentence: ({ channelId, messageId, emoji }) =>
          t("I'll react with {emoji} to a message in {channel}", {
            emoji,
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        said: ['emoji'],
        action: 'Add reaction',
        success: ({ emoji }, { channelId, messageId }) =>
          t('✓ Reacted with {emoji} to message {messageId} in <#{channelId}>.', { emoji, messageId, channelId }),
        cancelled: () => t('Cancelled the reaction.'),
      },
    }),
    discordTool({
      name: 'discord_add_multiple_reactions',
      description: 'React to a message with several emoji, one after another.',
      input: z.object({
        channelId: channelField,
        messageId: messageField,
        emojis: z
          .array(z.string().min(1).max(100))
          .min(1)
          .max(20)
          .describe('The emoji, in order: 👍, <:name:id>, or names of emoji of this server'),
      }),
      risk: 'write',
      idempotent: true,
      permissions: REACTING,
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      async run({ channelId, messageId, emojis }, call) {
        const message = await messageOf(client, channelId, messageId);
        // All are checked before the first is added, so that an invalid one prevents all.
        const read = emojis.map((emoji) => readEmoji(client, message, emoji));
        for (const emoji of read) await requireUsable(context, call, message, emoji);
        for (const { key } of read) {
          stopWhenCancelled(call.signal);
          await message.react(key);
        }
        return messageAt(message);
      },
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll react to a message in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'Add reactions',
        success: ({ emojis }, { channelId, messageId }) =>
          t('✓ Reacted with {emoji} to message {messageId} in <#{channelId}>.', {
            emoji: emojis.join(' '),
            messageId,
            channelId,
          }),
        cancelled: () => t('Cancelled the reactions.'),
      },
    }),
    discordTool({
      name: 'discord_remove_reaction',
      description: "Take a reaction off a message: the bot's own, or with the right to do so somebody else's.",
      input: z.object({
        channelId: channelField,
        messageId: messageField,
        emoji: emojiField,
        userId: z.string().max(30).optional().describe('Whose reaction: their user id. By default the bot’s own'),
      }),
      risk: 'write',
      idempotent: true,
      permissions: READING,
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: ['remove the reaction {emoji} from message {messageId} in {channelId}'],
      async run({ channelId, messageId, emoji, userId }, call) {
        const message = await messageOf(client, channelId, messageId);
        const me = client.user?.id;
        const whose = userId === undefined ? me : readId(userId, 'user');
        if (whose !== me && whose !== call.actor.userId) {
          await demand(context, call, placeOf(message.channel), 'ManageMessages');
        }
        // A missing reaction is not an error.
        await reactionOf(message, readEmoji(client, message, emoji))?.users.remove(whose);
        return messageAt(message);
      },
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll take a reaction off a message in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'Remove reaction',
        success: ({ emoji }, { channelId, messageId }) =>
          t('✓ Took {emoji} off message {messageId} in <#{channelId}>.', { emoji, messageId, channelId }),
        cancelled: () => t('Cancelled: the reaction stays.'),
      },
    }),
    discordTool({
      name: 'discord_get_reaction_users',
      description: 'List who reacted to a message with an emoji.',
      input: z.object({
        channelId: channelField,
        messageId: messageField,
        emoji: emojiField,
        limit: z.number().int().min(1).max(100).default(100).describe('How many users, at most 100'),
      }),
      risk: 'read',
      permissions: READING,
      place: ({ channelId, messageId }) => messagePlace(client, channelId, messageId),
      examples: ['who reacted with {emoji} to message {messageId} in {channelId}?'],
      async run({ channelId, messageId, emoji, limit }) {
        const message = await messageOf(client, channelId, messageId);
        const reaction = reactionOf(message, readEmoji(client, message, emoji));
        const users = await reaction?.users.fetch({ limit });
        return { users: users?.map(({ id, displayName, bot }) => ({ id, name: displayName, bot })) ?? [] };
      },
      present: {
        sentence: ({ channelId, messageId }) =>
          t("I'll look up who reacted to a message in {channel}", {
            channel: messageChannelInSentence(client, channelId, messageId),
          }),
        action: 'List reactions',
        success: ({ emoji }, { users }) =>
          users.length === 0
            ? t('Nobody reacted with {emoji}.', { emoji })
            : [
                t('{count} reacted with {emoji}:', { count: users.length, emoji }),
                ...users.map(({ id, name }) => t('{name} (user {id})', { name: nameText(name), id })),
              ].join('\n'),
      },
    }),
  ];
}

interface ReadEmoji {
  /** As discord.js expects it: a Unicode emoji, or `name:id`. */
  readonly key: string;
  /** The id of a custom emoji. */
  readonly id: string | undefined;
}

/** Parses 👍, `<:name:id>`, `name:id`, an id, or the name of an emoji of the message's own server. @throws UserError */
function readEmoji(client: Client, message: Message, text: string): ReadEmoji {
  const given = text.trim();
  const own = message.guild?.emojis.cache.find(({ name }) => name === given.replace(/^:|:$/g, ''));
  const custom = own ?? client.emojis.cache.get(/^\d{1,20}$/.test(given) ? given : '');
  if (custom !== undefined) return { key: `${custom.name}:${custom.id}`, id: custom.id };
  const { id, name } = parsedEmoji(given);
  return id === undefined ? { key: name, id: undefined } : { key: `${name}:${id}`, id };
}

/** The parts of 👍, `<:name:id>` or `name:id`. @throws UserError */
export function parsedEmoji(text: string): { readonly name: string; readonly id: string | undefined } {
  const { name = '', id } = parsed(text) ?? {};
  if (name === '' || /\s/.test(text)) throw new UserError(t('An emoji is given as itself (👍), or as <:name:id>.'));
  return { name, id: id ?? undefined };
}

function parsed(text: string) {
  try {
    return parseEmoji(text);
  } catch {
    // discord.js decodes percent escapes, and throws for a lone percent sign.
    return null;
  }
}

/** @throws UserError for an emoji of another server that the member may not use here */
async function requireUsable(
  context: Context,
  caller: Caller,
  message: Message,
  { id }: Pick<ReadEmoji, 'id'>,
): Promise<void> {
  if (id === undefined || message.guild === null || message.guild.emojis.cache.has(id)) return;
  if (await may(context, caller, placeOf(message.channel), ['UseExternalEmojis'], ['UseExternalEmojis'])) return;
  throw new UserError(t('Emoji of other servers may not be used here.'));
}

/** The reaction with that emoji, when the message has one. */
function reactionOf(message: Message, { key, id }: ReadEmoji): MessageReaction | undefined {
  return message.reactions.cache.get(id ?? key);
}
