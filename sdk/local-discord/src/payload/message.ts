import {
  type APIMessage,
  type APIReaction,
  ChannelType,
  type GatewayMessageCreateDispatchData,
  MessageFlags,
  MessageReferenceType,
} from 'discord-api-types/v10';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import { attachmentPayload } from './attachment.js';
import { channelPayload } from './channel.js';
import { componentsPayload } from './components.js';
import { embedPayload } from './embed.js';
import { emojiRefPayload } from './emoji.js';
import { interactionMetadata, legacyInteraction } from './interaction-metadata.js';
import { memberWithoutUser } from './member.js';
import { isoTime, isoTimeOrNull } from './time.js';
import { userPayload } from './user.js';

/** Who will read the payload: whose reactions are `me`, and whether content is shown. */
export interface MessageViewer {
  userId: string;
  /** False for a bot without MessageContent, on messages that do not concern it. */
  content(message: LocalMessage): boolean;
}

/** A message as REST returns it. Its nonce is not kept with it: only the answer to the request that made it has that. */
export function messagePayload(message: LocalMessage, viewer: MessageViewer): APIMessage {
  return { ...withReferenced(message, viewer), mentions: message.mentions.users.map(userPayload) };
}

/** The same for who has just made it. */
export function createdMessagePayload(message: LocalMessage, viewer: MessageViewer): APIMessage {
  return { ...messagePayload(message, viewer), ...nonceOf(message) };
}

function nonceOf({ nonce }: LocalMessage): Pick<APIMessage, 'nonce'> {
  return nonce === undefined ? {} : { nonce };
}

/** A message as the gateway sends it: with guild, author's member and the mentioned members. Ephemeral ones go without. */
export function messageEventPayload(message: LocalMessage, viewer: MessageViewer): GatewayMessageCreateDispatchData {
  // Discord sends the channel's type too; without it discord.js cannot make a direct message's channel.
  const base = { ...withReferenced(message, viewer), ...nonceOf(message), ...channelType(message.channel.type) };
  const guild = message.ephemeral ? undefined : message.channel.guild;
  if (!guild) return { ...base, mentions: message.mentions.users.map(userPayload) };
  const member = guild.members.get(message.author.id);
  return {
    ...base,
    guild_id: guild.id,
    ...(member ? { member: memberWithoutUser(member) } : {}),
    mentions: message.mentions.users.map((user) => {
      const mentioned = guild.members.get(user.id);
      return { ...userPayload(user), ...(mentioned ? { member: memberWithoutUser(mentioned) } : {}) };
    }),
  };
}

function channelType(type: ChannelType): Pick<GatewayMessageCreateDispatchData, 'channel_type'> {
  const withoutText =
    type === ChannelType.GuildCategory ||
    type === ChannelType.GuildDirectory ||
    type === ChannelType.GuildForum ||
    type === ChannelType.GuildMedia;
  return withoutText ? {} : { channel_type: type };
}

/** The message that it replies to comes with it, but not what that one replied to. */
function withReferenced(message: LocalMessage, viewer: MessageViewer): Omit<APIMessage, 'mentions'> {
  const base = baseMessage(message, viewer);
  if (!message.reference) return base;
  const referenced = message.replyTo;
  return {
    ...base,
    referenced_message: referenced
      ? { ...baseMessage(referenced, viewer), mentions: referenced.mentions.users.map(userPayload) }
      : null,
  };
}

function baseMessage(message: LocalMessage, viewer: MessageViewer): Omit<APIMessage, 'mentions'> {
  const shown = viewer.content(message);
  const { interaction } = message;
  return {
    id: message.id,
    type: message.type,
    channel_id: message.channel.id,
    author: userPayload(message.author),
    content: shown ? message.written : '',
    timestamp: isoTime(message.createdAt),
    edited_timestamp: isoTimeOrNull(message.editedAt),
    tts: message.tts,
    mention_everyone: message.mentions.everyone,
    mention_roles: message.mentions.roles.map((role) => role.id),
    attachments: shown ? message.attachments.map(attachmentPayload) : [],
    embeds: shown ? message.embeds.map(embedPayload) : [],
    components: shown ? componentsPayload(message.components) : [],
    pinned: message.pinned,
    flags: flagBits(message),
    ...(message.reactionsByKey.size > 0 ? { reactions: reactionsPayload(message, viewer.userId) } : {}),
    ...(message.webhookId === undefined ? {} : { webhook_id: message.webhookId }),
    ...(message.applicationId === undefined ? {} : { application_id: message.applicationId }),
    ...(hasThread(message) ? { thread: channelPayload(message.thread, viewer.userId) } : {}),
    ...(interaction ? interactionFields(interaction) : {}),
    ...(message.reference ? { message_reference: referencePayload(message.reference) } : {}),
  };
}

function referencePayload({ messageId, channelId, guildId }: NonNullable<LocalMessage['reference']>) {
  return {
    type: MessageReferenceType.Default,
    message_id: messageId,
    channel_id: channelId,
    ...(guildId === undefined ? {} : { guild_id: guildId }),
  };
}

function interactionFields(interaction: NonNullable<LocalMessage['interaction']>) {
  const legacy = legacyInteraction(interaction);
  return { interaction_metadata: interactionMetadata(interaction), ...(legacy ? { interaction: legacy } : {}) };
}

function flagBits(message: LocalMessage): MessageFlags {
  return hasThread(message) ? message.flags | MessageFlags.HasThread : message.flags;
}

/** A client adds the thread of a message to its channels, so one that was deleted must not come with it. */
function hasThread(message: LocalMessage): message is LocalMessage & { readonly thread: LocalChannel } {
  return message.thread?.deleted === false;
}

function reactionsPayload(message: LocalMessage, viewerId: string): APIReaction[] {
  return message.reactions.map((reaction) => ({
    emoji: emojiRefPayload(reaction.emoji),
    count: reaction.users.size,
    count_details: { normal: reaction.users.size, burst: 0 },
    me: [...reaction.users].some((user) => user.id === viewerId),
    me_burst: false,
    burst_colors: [],
  }));
}
