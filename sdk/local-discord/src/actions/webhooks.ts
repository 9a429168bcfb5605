import { ChannelType } from 'discord-api-types/v10';
import { discordError, invalidForm } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { EVERYONE_PERMISSIONS } from '../rules/permission-names.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser, MessageAuthor } from '../state/user.js';
import type { LocalWebhook } from '../state/webhook.js';
import type { World } from '../state/world.js';
import { editMessage } from './edit-message.js';
import type { MessageDraft, MessageEdit } from './message-draft.js';
import { postMessage } from './messages.js';
import { createThread } from './threads.js';

const MAX_PER_CHANNEL = 15;

/** Makes an incoming webhook. @throws 30007 */
export function createWebhook(
  world: World,
  channel: LocalChannel,
  creator: LocalUser,
  { name, avatar }: { name: string; avatar?: string | null | undefined },
): LocalWebhook {
  const present = [...world.webhooks.values()].filter((one) => one.channel === channel);
  if (present.length >= MAX_PER_CHANNEL) throw discordError('tooManyWebhooks');
  const id = world.nextId();
  const webhook: LocalWebhook = {
    id,
    token: Buffer.from(`webhook:${id}`).toString('base64url').padEnd(68, 'x'),
    creator,
    application: world.applications.get(creator.id),
    channel,
    name,
    avatar: avatar ?? null,
  };
  world.webhooks.set(id, webhook);
  announceWebhooks(world, channel);
  return webhook;
}

export function deleteWebhook(world: World, webhook: LocalWebhook): void {
  world.webhooks.delete(webhook.id);
  announceWebhooks(world, webhook.channel);
}

export function announceWebhooks(world: World, channel: LocalChannel): void {
  if (!channel.guild) return;
  broadcast(world, 'WEBHOOKS_UPDATE', { channel }, { guild_id: channel.guild.id, channel_id: channel.id });
}

/** @throws 10015, 50027 */
export function webhookByToken(world: World, id: string, token: string): LocalWebhook {
  const webhook = world.webhooks.get(id);
  if (!webhook) throw discordError('unknownWebhook');
  if (webhook.token !== token) throw discordError('invalidWebhookToken');
  return webhook;
}

export interface WebhookExecution {
  draft: MessageDraft;
  username?: string | undefined;
  avatarUrl?: string | undefined;
  threadId?: string | undefined;
  /** Starts a post in a forum. */
  threadName?: string | undefined;
}

/** Says something under the webhook's name, or under another for this once. @throws 10003, 50006, 50035 */
export function executeWebhook(world: World, webhook: LocalWebhook, execution: WebhookExecution): LocalMessage {
  const name = execution.username ?? webhook.name;
  const author: MessageAuthor = {
    id: webhook.id,
    name,
    username: name,
    globalName: null,
    avatar: execution.avatarUrl ?? webhook.avatar,
    bot: true,
    user: undefined,
  };
  const sender = {
    author,
    permissions: EVERYONE_PERMISSIONS,
    webhookId: webhook.id,
    ...(webhook.application ? { applicationId: webhook.application.id } : {}),
  };
  return postMessage(world, destination(world, webhook, execution), sender, execution.draft);
}

function destination(world: World, webhook: LocalWebhook, execution: WebhookExecution): LocalChannel {
  const { channel } = webhook;
  if (execution.threadId !== undefined) {
    const thread = world.channels.get(execution.threadId);
    if (thread?.parent !== channel) throw discordError('unknownChannel');
    return thread;
  }
  if (channel.type !== ChannelType.GuildForum) return channel;
  if (execution.threadName === undefined) {
    const message = 'Webhooks posted to forum channels must have a thread_name or thread_id';
    throw invalidForm({ path: ['thread_name'], code: 'BASE_TYPE_REQUIRED', message });
  }
  return createThread(world, channel, webhook.creator, { name: execution.threadName });
}

/** Edits what the webhook said. */
export function editWebhookMessage(world: World, message: LocalMessage, edit: MessageEdit): void {
  editMessage(world, message, EVERYONE_PERMISSIONS, edit);
}
