import { MessageFlags, MessageType } from 'discord-api-types/v10';
import { discordError, invalidForm } from '../errors.js';
import {
  checkComponentsV2,
  checkLimits,
  checkNotEmpty,
  findMentions,
  type MessageDraft,
  validateAllowedMentions,
} from '../rules/messages.js';
import type { PermissionName } from '../rules/permission-names.js';
import { canView, channelPermissions, hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalInteraction } from '../state/interactions.js';
import { LocalMessage, type MessageAuthor } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { attachFiles } from './attachments.js';
import { checkAutoModeration } from './auto-moderation.js';
import { announceMessage } from './message-events.js';
import { unarchiveThread } from './threads.js';

/**
 * Sends as a user or a bot, and checks every permission that the message needs.
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
  checkAutoModeration(world, user, channel, draft.content ?? '');
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

/** A bot can write to people who accept DMs and have not blocked it, but never to another bot. */
function checkDmOpen(channel: LocalChannel, from: LocalUser): void {
  for (const other of channel.recipients) {
    if (other === from) continue;
    if (other.dmsClosed || other.blocked.has(from.id) || (from.bot && other.bot)) throw discordError('cannotDm');
  }
}

/** @throws 20016 when a user writes again too soon; bots and moderators are exempt */
function checkSlowmode(world: World, user: LocalUser, channel: LocalChannel): void {
  if (channel.slowmodeSeconds === 0 || user.bot) return;
  const now = world.clock.now();
  const exempt = ['ManageMessages', 'ManageChannels'] as const;
  if (exempt.some((name) => hasChannelPermission(channel, user, now, name))) return;
  const last = channel.messages.findLast((message) => message.author === user);
  if (last && now - last.createdAt < channel.slowmodeSeconds * 1_000) throw discordError('slowmode');
}

/** The author of a message, and the mentions that they may use. */
interface Sender {
  author: MessageAuthor;
  /** As in `channelPermissions`. */
  permissions: bigint;
  webhookId?: string;
  applicationId?: string;
  interaction?: LocalInteraction;
  /** The only user who sees the message. */
  ephemeral?: boolean;
  type?: MessageType;
}

const KEPT_FLAGS =
  MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications | MessageFlags.IsComponentsV2 | MessageFlags.Loading;

/**
 * Adds a message to a channel and announces it. It does not check permissions: see `sendMessage`.
 * @throws 50006, 50035
 */
export function postMessage(world: World, channel: LocalChannel, sender: Sender, draft: MessageDraft): LocalMessage {
  const flags = (draft.flags ?? 0) & KEPT_FLAGS;
  if (!(flags & MessageFlags.Loading) && sender.type !== MessageType.ChannelPinnedMessage) checkNotEmpty(draft);
  checkLimits(draft);
  checkComponentsV2(flags, draft);
  validateAllowedMentions(draft.allowedMentions);
  const repeated = findByNonce(world, sender, draft);
  if (repeated) return repeated;

  const reply = resolveReply(channel, draft);
  const type = sender.type ?? (reply ? MessageType.Reply : MessageType.Default);
  const message = new LocalMessage(draft.id ?? world.nextId(), channel, sender.author, type, world.clock.now());
  message.written = (draft.content ?? '').trim();
  message.components = draft.components ?? [];
  message.tts = draft.tts ?? false;
  message.flags = sender.ephemeral ? flags | MessageFlags.Ephemeral : flags;
  message.nonce = draft.nonce;
  rememberNonce(world, message);
  message.webhookId = sender.webhookId;
  message.applicationId = sender.applicationId;
  message.interaction = sender.interaction;
  message.visibleTo = sender.ephemeral ? sender.interaction?.user : undefined;
  message.mentions = findMentions(world, channel, message.written, sender.permissions, draft.allowedMentions);
  if (reply) linkReply(message, reply, draft);
  attachFiles(world, message, draft.files ?? [], draft.embeds ?? []);
  keep(world, channel, message);
  unarchiveThread(world, channel);
  announceMessage(world, message);
  return message;
}

/** Time for which nonces are compared; Discord's documentation says "the past few minutes". */
const NONCE_KEPT_MS = 3 * 60_000;

const nonceKey = (authorId: string, nonce: string | number) => `${authorId}:${nonce}`;

/** With `enforce_nonce`, a request whose author has recently used the nonce in any channel returns the earlier message. */
function findByNonce(world: World, sender: Sender, draft: MessageDraft): LocalMessage | undefined {
  if (!draft.enforceNonce || draft.nonce === undefined) return undefined;
  const message = world.nonces.get(nonceKey(sender.author.id, draft.nonce));
  if (message === undefined || message.deleted) return undefined;
  return world.clock.now() - message.createdAt <= NONCE_KEPT_MS ? message : undefined;
}

function rememberNonce({ nonces, clock }: World, message: LocalMessage): void {
  if (message.nonce === undefined) return;
  for (const [key, { createdAt }] of nonces) {
    if (clock.now() - createdAt <= NONCE_KEPT_MS) break;
    nonces.delete(key);
  }
  const key = nonceKey(message.author.id, message.nonce);
  nonces.delete(key);
  nonces.set(key, message);
}

function linkReply(message: LocalMessage, replied: LocalMessage, draft: MessageDraft): void {
  message.reference = { messageId: replied.id, channelId: replied.channel.id, guildId: replied.channel.guild?.id };
  const allowed = draft.allowedMentions;
  const pings = allowed ? (allowed.replied_user ?? false) : true;
  const { user } = replied.author;
  if (pings && user && !message.mentions.users.includes(user)) message.mentions.users.push(user);
}

function keep(world: World, channel: LocalChannel, message: LocalMessage): void {
  channel.messagesById.set(message.id, message);
  if (!message.ephemeral) channel.lastMessageId = message.id;
  if (channel.messagesById.size <= world.keepMessages) return;
  for (const oldest of channel.messagesById.keys()) {
    channel.messagesById.delete(oldest);
    return;
  }
}

/** The message that a draft replies to. When it is unknown: 50035, or no reference with `fail_if_not_exists: false`. */
function resolveReply(channel: LocalChannel, draft: MessageDraft): LocalMessage | undefined {
  if (!draft.replyTo) return undefined;
  const replied = channel.messagesById.get(draft.replyTo.messageId);
  if (replied) return replied;
  if (!draft.replyTo.failIfMissing) return undefined;
  throw invalidForm({ path: ['message_reference'], code: 'REPLIES_UNKNOWN_MESSAGE', message: 'Unknown message' });
}
