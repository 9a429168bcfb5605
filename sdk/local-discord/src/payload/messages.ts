import {
  type APIAttachment,
  type APIEmbed,
  type APIMessage,
  type APIMessageInteraction,
  type APIMessageInteractionMetadata,
  type APIMessageTopLevelComponent,
  type APIReaction,
  ApplicationIntegrationType,
  ChannelType,
  EmbedType,
  type GatewayMessageCreateDispatchData,
  InteractionType,
  MessageFlags,
  MessageReferenceType,
} from 'discord-api-types/v10';
import { z } from 'zod';
import { type AnyComponent, ComponentKind, isSelect, walkComponents } from '../rules/components.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalInteraction } from '../state/interactions.js';
import { attachmentAt, type LocalAttachment, type LocalMessage } from '../state/messages.js';
import { channelPayload } from './channels.js';
import { emojiRefPayload, isoTime, isoTimeOrNull, memberWithoutUser, userPayload } from './users.js';

/** The viewer of the payload: determines the reactions that are `me`, and whether content is included. */
export interface MessageViewer {
  userId: string;
  /** `false` for a bot without MessageContent, on messages that do not mention it. */
  content(message: LocalMessage): boolean;
}

/** A message as REST returns it. The nonce is only in the response to the request that created the message. */
export function messagePayload(message: LocalMessage, viewer: MessageViewer): APIMessage {
  return { ...withReferenced(message, viewer), mentions: message.mentions.users.map(userPayload) };
}

/** A message in the response to the request that created it. */
export function createdMessagePayload(message: LocalMessage, viewer: MessageViewer): APIMessage {
  return { ...messagePayload(message, viewer), ...nonceOf(message) };
}

function nonceOf({ nonce }: LocalMessage): Pick<APIMessage, 'nonce'> {
  return nonce === undefined ? {} : { nonce };
}

/** A message as the gateway sends it: with the guild, the author's member and the mentioned members. Ephemeral messages have none of these. */
export function messageEventPayload(message: LocalMessage, viewer: MessageViewer): GatewayMessageCreateDispatchData {
  // Discord also sends the channel's type, which discord.js needs to create the channel of a direct message.
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

/** Includes the message that it replies to, but not the one that that message replies to. */
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
    components: shown ? componentsPayload(message) : [],
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

/** A client adds the thread of a message to its channels, so a deleted thread is not included. */
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

/** An embed as Discord returns it: with its type, and with `inline` in each field. */
function embedPayload(embed: APIEmbed): APIEmbed {
  return {
    ...embed,
    type: EmbedType.Rich,
    ...(embed.fields ? { fields: embed.fields.map((field) => ({ ...field, inline: field.inline ?? false })) } : {}),
  };
}

/**
 * A message's components as Discord returns them: with the defaults, addresses of its files, and each with an `id`. Components that were sent without one are
 * numbered in order. See https://discord.com/developers/docs/components/reference#anatomy-of-a-component
 */
function componentsPayload(message: LocalMessage): APIMessageTopLevelComponent[] {
  const rendered = structuredClone([...message.components]);
  const all = [...walkComponents(rendered)].map(({ component }) => component);
  const taken = new Set(all.map(({ id }) => id));
  let next = 1;
  for (const component of all) {
    Object.assign(component, { ...defaults(component), ...component, ...shownMedia(component, message) });
    // Discord treats 0 as missing.
    if (component.id !== undefined && component.id !== 0) continue;
    while (taken.has(next)) next += 1;
    component.id = next;
    next += 1;
  }
  return rendered;
}

function defaults(component: AnyComponent): Record<string, unknown> {
  if (isSelect(component)) return { min_values: 1, max_values: 1 };
  switch (component.type) {
    case ComponentKind.Thumbnail:
      return { description: null, spoiler: false };
    case ComponentKind.File:
      return { spoiler: false };
    case ComponentKind.Separator:
      return { spacing: 1, divider: true };
    case ComponentKind.Container:
      return { accent_color: null, spoiler: false };
    default:
      return {};
  }
}

const media = z.object({ url: z.string() });
const withMedia = z.looseObject({ media });
const withFile = z.looseObject({ file: media });

/** Pictures and files of a component with their addresses on the CDN. */
function shownMedia(component: AnyComponent, message: LocalMessage): Record<string, unknown> {
  switch (component.type) {
    case ComponentKind.Thumbnail:
      return { media: unfurled(withMedia.parse(component).media.url, message) };
    case ComponentKind.MediaGallery:
      return {
        items: z
          .array(withMedia)
          .parse(component.items)
          .map((item) => ({ description: null, spoiler: false, ...item, media: unfurled(item.media.url, message) })),
      };
    case ComponentKind.File: {
      const { url } = withFile.parse(component).file;
      const file = attachmentAt(url, message.attachments);
      return { file: unfurled(url, message), name: file?.filename ?? null, size: file?.size ?? null };
    }
    default:
      return {};
  }
}

function unfurled(url: string, message: LocalMessage) {
  const file = attachmentAt(url, message.attachments);
  if (file === undefined) return { id: message.id, url, proxy_url: url };
  const { id, url: address, contentType } = file;
  return { id, url: address, proxy_url: address, content_type: contentType, attachment_id: id };
}

export function attachmentPayload(file: LocalAttachment): APIAttachment {
  return {
    id: file.id,
    filename: file.filename,
    size: file.size,
    url: file.url,
    proxy_url: file.url,
    content_type: file.contentType,
    ...(file.description === undefined ? {} : { description: file.description }),
    ...(file.ephemeral ? { ephemeral: true } : {}),
  };
}

/** The installation of the application that the interaction belongs to. */
export function integrationOwners(interaction: LocalInteraction) {
  return { [ApplicationIntegrationType.GuildInstall]: interaction.channel.guild?.id ?? '0' };
}

/** `interaction_metadata` of a message that answers an interaction. */
function interactionMetadata(interaction: LocalInteraction): APIMessageInteractionMetadata {
  const base = {
    id: interaction.id,
    user: userPayload(interaction.user),
    authorizing_integration_owners: integrationOwners(interaction),
  };
  const { source } = interaction;
  switch (source.kind) {
    case 'component':
      return { ...base, type: InteractionType.MessageComponent, interacted_message_id: source.message.id };
    case 'modal': {
      const trigger = interactionMetadata(source.trigger);
      if (trigger.type === InteractionType.ModalSubmit) return trigger;
      return { ...base, type: InteractionType.ModalSubmit, triggering_interaction_metadata: trigger };
    }
    default:
      return { ...base, type: InteractionType.ApplicationCommand };
  }
}

/** The deprecated `interaction` field, which discord.js still reads; commands only. */
function legacyInteraction(interaction: LocalInteraction): APIMessageInteraction | undefined {
  if (interaction.source.kind !== 'command') return undefined;
  return {
    id: interaction.id,
    type: InteractionType.ApplicationCommand,
    name: interaction.source.name,
    user: userPayload(interaction.user),
  };
}
