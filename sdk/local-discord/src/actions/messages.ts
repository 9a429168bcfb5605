import { MessageFlags, MessageType } from 'discord-api-types/v10';
import { findMentions, validateAllowedMentions } from '../rules/mentions.js';
import { checkComponentsV2, checkLimits, checkNotEmpty } from '../rules/message-limits.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalInteraction } from '../state/interaction.js';
import { LocalMessage } from '../state/message.js';
import type { MessageAuthor } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceMessage } from './announce-message.js';
import { attachFiles } from './attach-files.js';
import type { MessageDraft } from './message-draft.js';
import { resolveReply } from './replies.js';
import { wakeThread } from './threads.js';

/** Whose name stands over the message, and what they may ping. */
export interface Sender {
  author: MessageAuthor;
  /** As in `channelPermissions`. */
  permissions: bigint;
  webhookId?: string;
  applicationId?: string;
  interaction?: LocalInteraction;
  /** Shown to this person only. */
  ephemeral?: boolean;
  type?: MessageType;
}

const KEPT_FLAGS =
  MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications | MessageFlags.IsComponentsV2 | MessageFlags.Loading;

/**
 * Puts a message into a channel and tells everybody. It does not ask whether the sender may: see `sendMessage`.
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
  wakeThread(world, channel);
  announceMessage(world, message);
  return message;
}

/** For how long a nonce is compared; Discord says "the past few minutes". */
const NONCE_KEPT_MS = 3 * 60_000;

const nonceKey = (authorId: string, nonce: string | number) => `${authorId}:${nonce}`;

/** With `enforce_nonce` a request whose author has lately used the nonce, wherever that was, returns the message that it made then. */
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
