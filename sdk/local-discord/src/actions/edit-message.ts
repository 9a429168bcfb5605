import { MessageFlags } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { findMentions } from '../rules/mentions.js';
import { checkComponentsV2, checkLimits, checkNotEmpty } from '../rules/message-limits.js';
import { channelPermissions, hasChannelPermission } from '../rules/permissions.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceEdit } from './announce-message.js';
import { attachFiles } from './attach-files.js';
import type { MessageEdit } from './message-draft.js';

const EDITABLE_FLAGS = MessageFlags.SuppressEmbeds | MessageFlags.IsComponentsV2;

/** Edits as a user or bot would. @throws 50005 unless it is their own (moderators may only suppress embeds) */
export function editOwnMessage(world: World, user: LocalUser, message: LocalMessage, edit: MessageEdit): void {
  const own = message.author.id === user.id;
  if (!own && !isOnlySuppression(edit)) throw discordError('notYourMessage');
  const now = world.clock.now();
  if (!own && !hasChannelPermission(message.channel, user, now, 'ManageMessages'))
    throw discordError('missingPermissions');
  editMessage(world, message, channelPermissions(message.channel, user, now), edit);
}

function isOnlySuppression(edit: MessageEdit): boolean {
  return (
    edit.flags !== undefined && edit.content === undefined && edit.embeds === undefined && edit.components === undefined
  );
}

/** Applies an edit and tells everybody. @throws 50006, 50035 */
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
