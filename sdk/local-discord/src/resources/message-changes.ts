import { AuditLogEvent, MessageFlags, MessageType } from 'discord-api-types/v10';
import { discordError, invalidForm } from '../errors.js';
import { broadcast, type EventScope } from '../gateway/dispatch.js';
import { checkComponentsV2, checkLimits, checkNotEmpty, findMentions, type MessageEdit } from '../rules/messages.js';
import { channelPermissions, hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import { snowflakeAt } from '../snowflakes.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { attachFiles } from './attachments.js';
import { recordAct } from './audit-log.js';
import { checkAutoModeration } from './auto-moderation.js';
import { announceEdit } from './message-events.js';

const EDITABLE_FLAGS = MessageFlags.SuppressEmbeds | MessageFlags.IsComponentsV2;

/** Edits as a user or bot. @throws 50005 for another author's message (moderators may only suppress its embeds) */
export function editOwnMessage(world: World, user: LocalUser, message: LocalMessage, edit: MessageEdit): void {
  const own = message.author.id === user.id;
  if (!own && !isOnlySuppression(edit)) throw discordError('notYourMessage');
  const now = world.clock.now();
  if (!own && !hasChannelPermission(message.channel, user, now, 'ManageMessages'))
    throw discordError('missingPermissions');
  if (own) checkAutoModeration(world, user, message.channel, edit.content ?? '');
  editMessage(world, message, channelPermissions(message.channel, user, now), edit);
}

function isOnlySuppression(edit: MessageEdit): boolean {
  return (
    edit.flags !== undefined && edit.content === undefined && edit.embeds === undefined && edit.components === undefined
  );
}

/** Applies an edit and announces it. @throws 50006, 50035 */
export function editMessage(world: World, message: LocalMessage, permissions: bigint, edit: MessageEdit): void {
  checkLimits(edit);
  checkComponentsV2(message.flags | (edit.flags ?? 0), edit);
  const attachments = edit.keepAttachments
    ? message.attachments.filter((file) => edit.keepAttachments?.includes(file.id))
    : message.attachments;
  const content = edit.content === undefined ? message.written : (edit.content ?? '').trim();
  const embeds = edit.embeds === undefined ? message.embeds : (edit.embeds ?? []);
  const components = edit.components === undefined ? message.components : (edit.components ?? []);
  const files = edit.files ?? [];
  checkNotEmpty({
    content,
    embeds,
    components,
    files: [...files, ...attachments.map((one) => ({ name: one.filename, data: one.data }))],
  });

  const wasLoading = (message.flags & MessageFlags.Loading) !== 0;
  message.written = content;
  message.components = components;
  message.attachments = attachments;
  attachFiles(world, message, files, embeds);
  if (edit.flags !== undefined)
    message.flags = (message.flags & ~MessageFlags.SuppressEmbeds) | (edit.flags & EDITABLE_FLAGS);
  message.flags &= ~MessageFlags.Loading;
  if (edit.content !== undefined) {
    message.mentions = findMentions(world, message.channel, content, permissions, edit.allowedMentions);
  }
  if (!wasLoading) message.editedAt = world.clock.now();
  message.revision += 1;
  announceEdit(world, message, wasLoading);
}

const BULK_DELETE_REACHES_MS = 14 * 24 * 60 * 60_000;

/** Deletes as a user or bot. @throws 50013 for another author's message without ManageMessages, 50003 in a DM, 50021 */
export function deleteOwnMessage(world: World, user: LocalUser, message: LocalMessage, reason?: string): void {
  if (message.author.id !== user.id) {
    if (message.channel.isDm) throw discordError('wrongChannelTypeDm');
    requireInChannel(message.channel, user, world.clock.now(), 'ManageMessages');
  }
  if (message.type === MessageType.RecipientAdd) throw discordError('systemMessage');
  deleteMessage(world, message);
  const { author, channel } = message;
  if (channel.guild && author.id !== user.id) {
    const options = { channel_id: channel.id, count: '1' };
    recordAct(world, channel.guild, user, AuditLogEvent.MessageDelete, { targetId: author.id, reason, options });
  }
}

/** Deletes the message and sends MESSAGE_DELETE. */
export function deleteMessage(world: World, message: LocalMessage): void {
  const { channel, interaction } = message;
  forget(message);
  const scope: EventScope = message.ephemeral && interaction ? { application: interaction.application } : { channel };
  const guild = message.ephemeral ? undefined : channel.guild;
  broadcast(world, 'MESSAGE_DELETE', scope, {
    id: message.id,
    channel_id: channel.id,
    ...(guild ? { guild_id: guild.id } : {}),
  });
  world.notify({ type: 'messageDelete', message });
}

/** Deletes 2 to 100 messages at once. Unknown ids are ignored. @throws 50003, 50013, 50016, 50034 */
export function bulkDelete(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  ids: readonly string[],
  reason?: string,
): void {
  if (!channel.guild) throw discordError('wrongChannelTypeDm');
  requireInChannel(channel, user, world.clock.now(), 'ManageMessages');
  if (ids.length < 2 || ids.length > 100) throw discordError('bulkDeleteCount');
  if (ids.some((id) => !/^\d{1,20}$/.test(id))) {
    throw invalidForm({ path: ['messages'], code: 'NUMBER_TYPE_COERCE', message: 'Value is not snowflake.' });
  }
  const oldest = snowflakeAt(world.clock.now() - BULK_DELETE_REACHES_MS);
  if (ids.some((id) => BigInt(id) < oldest)) throw discordError('tooOldToBulkDelete');
  const found = [...new Set(ids)].flatMap((id) => channel.messagesById.get(id) ?? []);
  for (const message of found) forget(message);
  broadcast(
    world,
    'MESSAGE_DELETE_BULK',
    { channel },
    {
      ids: found.map((message) => message.id),
      channel_id: channel.id,
      guild_id: channel.guild.id,
    },
  );
  for (const message of found) world.notify({ type: 'messageDelete', message });
  recordAct(world, channel.guild, user, AuditLogEvent.MessageBulkDelete, {
    targetId: channel.id,
    reason,
    options: { count: String(found.length) },
  });
}

function forget(message: LocalMessage): void {
  message.deleted = true;
  message.channel.messagesById.delete(message.id);
}
