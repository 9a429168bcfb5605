import { discordError } from '../errors.js';
import type { PermissionName } from '../rules/permission-names.js';
import { canView, channelPermissions, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import type { MessageDraft } from './message-draft.js';
import { postMessage } from './messages.js';
import { checkSlowmode } from './slowmode.js';

/**
 * Sends as a user or a bot would: with every permission that the message needs.
 * @throws 50001, 50006, 50007, 50008, 50013, 50035, 160002, 160005, 20016
 */
export function sendMessage(world: World, user: LocalUser, channel: LocalChannel, draft: MessageDraft): LocalMessage {
  const now = world.clock.now();
  if (!canView(channel, user, now)) throw discordError('missingAccess');
  if (!channel.holdsMessages) throw discordError('notTextChannel');
  requireInChannel(channel, user, now, ...neededFor(channel, draft));
  if (draft.replyTo) checkMayReply(world, user, channel);
  if (channel.thread?.locked) checkLocked(world, user, channel);
  if (channel.isDm) checkDmOpen(channel, user);
  checkSlowmode(world, user, channel);
  const permissions = channelPermissions(channel, user, now);
  return postMessage(world, channel, { author: user, permissions }, draft);
}

function neededFor(channel: LocalChannel, draft: MessageDraft): PermissionName[] {
  const names: PermissionName[] = [channel.isThread ? 'SendMessagesInThreads' : 'SendMessages'];
  if ((draft.files?.length ?? 0) > 0) names.push('AttachFiles');
  if ((draft.embeds?.length ?? 0) > 0) names.push('EmbedLinks');
  return names;
}

function checkMayReply(world: World, user: LocalUser, channel: LocalChannel): void {
  try {
    requireInChannel(channel, user, world.clock.now(), 'ReadMessageHistory');
  } catch {
    throw discordError('cannotReply');
  }
}

function checkLocked(world: World, user: LocalUser, channel: LocalChannel): void {
  try {
    requireInChannel(channel, user, world.clock.now(), 'ManageThreads');
  } catch {
    throw discordError('threadLocked');
  }
}

/** A bot reaches people who accept DMs and have not blocked it; it never reaches another bot. */
function checkDmOpen(channel: LocalChannel, from: LocalUser): void {
  for (const other of channel.recipients) {
    if (other === from) continue;
    if (other.dmsClosed || other.blocked.has(from.id) || (from.bot && other.bot)) throw discordError('cannotDm');
  }
}
