import { ChannelType } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError, invalidForm } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { messagePayload } from '../payload/messages.js';
import { webhookPayload } from '../payload/users.js';
import { messageEditForm, messageForm, snowflake, toDraft, toEdit } from '../rest/message-form.js';
import { openRoute, type RestContext, route } from '../rest/request.js';
import { fullViewer, type MessageDraft, type MessageEdit } from '../rules/messages.js';
import { EVERYONE_PERMISSIONS } from '../rules/permission-names.js';
import { requireInChannel, requireInGuild } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalMessage, LocalWebhook, MessageAuthor } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { findChannel, findGuild } from './find.js';
import { editAnswer, followUp } from './interactions.js';
import { deleteMessage, editMessage } from './message-changes.js';
import { postMessage } from './messages.js';
import { createThread } from './threads.js';

const MAX_PER_CHANNEL = 15;

/** Creates an incoming webhook. @throws 30007 */
function createWebhook(
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

function deleteWebhook(world: World, webhook: LocalWebhook): void {
  world.webhooks.delete(webhook.id);
  announceWebhooks(world, webhook.channel);
}

function announceWebhooks(world: World, channel: LocalChannel): void {
  if (!channel.guild) return;
  broadcast(world, 'WEBHOOKS_UPDATE', { channel }, { guild_id: channel.guild.id, channel_id: channel.id });
}

/** @throws 10015, 50027 */
function webhookByToken(world: World, id: string, token: string): LocalWebhook {
  const webhook = world.webhooks.get(id);
  if (!webhook) throw discordError('unknownWebhook');
  if (webhook.token !== token) throw discordError('invalidWebhookToken');
  return webhook;
}

interface WebhookExecution {
  draft: MessageDraft;
  username?: string | undefined;
  avatarUrl?: string | undefined;
  threadId?: string | undefined;
  /** Starts a post in a forum. */
  threadName?: string | undefined;
}

/** Sends a message under the webhook's name, or under another for this message. @throws 10003, 50006, 50035 */
function executeWebhook(world: World, webhook: LocalWebhook, execution: WebhookExecution): LocalMessage {
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

/** Edits a message of the webhook. */
function editWebhookMessage(world: World, message: LocalMessage, edit: MessageEdit): void {
  editMessage(world, message, EVERYONE_PERMISSIONS, edit);
}

/** A webhook by its id, for a bot that may manage it. @throws 10015, 50013 */
function managed({ world, user, param }: RestContext): LocalWebhook {
  const webhook = world.webhooks.get(param('webhookId'));
  if (!webhook) throw discordError('unknownWebhook');
  requireInChannel(webhook.channel, user, world.clock.now(), 'ManageWebhooks');
  return webhook;
}

function byToken({ world, param }: RestContext): LocalWebhook {
  return webhookByToken(world, param('webhookId'), param('token'));
}

function edit(context: RestContext, webhook: LocalWebhook, mayMove: boolean) {
  const { name, avatar, channel_id } = context.form(webhookEditForm);
  if (name !== undefined) webhook.name = name;
  if (avatar !== undefined) webhook.avatar = avatar;
  if (channel_id !== undefined && mayMove) webhook.channel = findChannel(context.world, channel_id, context.user);
  announceWebhooks(context.world, webhook.channel);
  return webhookPayload(webhook, mayMove);
}

export const webhookRoutes = [
  route('POST', '/channels/:channelId/webhooks', (context) => {
    const { world, user, param } = context;
    const channel = findChannel(world, param('channelId'), user);
    requireInChannel(channel, user, world.clock.now(), 'ManageWebhooks');
    return webhookPayload(createWebhook(world, channel, user, context.form(webhookForm)), true);
  }),
  route('GET', '/channels/:channelId/webhooks', ({ world, user, param }) => {
    const channel = findChannel(world, param('channelId'), user);
    requireInChannel(channel, user, world.clock.now(), 'ManageWebhooks');
    return [...world.webhooks.values()]
      .filter((one) => one.channel === channel)
      .map((one) => webhookPayload(one, true));
  }),
  route('GET', '/guilds/:guildId/webhooks', ({ world, user, param }) => {
    const guild = findGuild(world, param('guildId'), user);
    requireInGuild(guild, user, world.clock.now(), 'ManageWebhooks');
    return [...world.webhooks.values()]
      .filter((one) => one.channel.guild === guild)
      .map((one) => webhookPayload(one, true));
  }),
  route('GET', '/webhooks/:webhookId', (context) => webhookPayload(managed(context), true)),
  route('PATCH', '/webhooks/:webhookId', (context) => edit(context, managed(context), true)),
  route('DELETE', '/webhooks/:webhookId', (context) => {
    deleteWebhook(context.world, managed(context));
    return undefined;
  }),
  openRoute('GET', '/webhooks/:webhookId/:token', (context) => webhookPayload(byToken(context), false)),
  openRoute('PATCH', '/webhooks/:webhookId/:token', (context) => edit(context, byToken(context), false)),
  openRoute('DELETE', '/webhooks/:webhookId/:token', (context) => {
    deleteWebhook(context.world, byToken(context));
    return undefined;
  }),
];

const BASE = '/webhooks/:webhookId/:token';

/** The same paths serve webhooks and interactions; an interaction uses its application's id. */
type Holder = { interaction: LocalInteraction; webhook?: never } | { webhook: LocalWebhook; interaction?: never };

function holderOf({ world, param }: RestContext): Holder {
  if (!world.applications.has(param('webhookId'))) {
    return { webhook: webhookByToken(world, param('webhookId'), param('token')) };
  }
  const interaction = world.interactions.get(param('token'));
  if (interaction?.application.id !== param('webhookId') || !interaction.tokenValid)
    throw discordError('invalidWebhookToken');
  if (!interaction.acknowledged) throw discordError('unknownWebhook');
  return { interaction };
}

function messageOf(context: RestContext, holder: Holder): LocalMessage {
  const id = context.param('messageId');
  const message = holder.interaction ? answerOf(holder.interaction, id) : webhookMessage(context, holder.webhook, id);
  if (!message || message.deleted) throw discordError('unknownMessage');
  return message;
}

function webhookMessage({ world, query }: RestContext, webhook: LocalWebhook, id: string): LocalMessage | undefined {
  const channel = world.channels.get(query.get('thread_id') ?? webhook.channel.id);
  const message = channel?.messagesById.get(id);
  return message?.webhookId === webhook.id ? message : undefined;
}

function answerOf(interaction: LocalInteraction, id: string): LocalMessage | undefined {
  if (id === '@original') return interaction.response;
  return interaction.response?.id === id
    ? interaction.response
    : interaction.messages.find((message) => message.id === id);
}

function payload(context: RestContext, message: LocalMessage) {
  return messagePayload(message, fullViewer(context.param('webhookId')));
}

export const webhookMessageRoutes = [
  openRoute('POST', BASE, (context) => {
    const holder = holderOf(context);
    if (holder.interaction) {
      const draft = toDraft(context.form(messageForm), context.files);
      return payload(context, followUp(context.world, holder.interaction, draft));
    }
    const form = context.form(webhookExecuteForm);
    const message = executeWebhook(context.world, holder.webhook, {
      draft: toDraft(form, context.files),
      username: form.username ?? undefined,
      avatarUrl: form.avatar_url ?? undefined,
      threadId: context.query.get('thread_id') ?? undefined,
      threadName: form.thread_name ?? undefined,
    });
    return context.query.get('wait') === 'true' ? payload(context, message) : undefined;
  }),
  openRoute('GET', `${BASE}/messages/:messageId`, (context) => payload(context, messageOf(context, holderOf(context)))),
  openRoute('PATCH', `${BASE}/messages/:messageId`, (context) => {
    const holder = holderOf(context);
    const message = messageOf(context, holder);
    const edit = toEdit(context.form(messageEditForm), context.files);
    if (holder.interaction) editAnswer(context.world, holder.interaction, message, edit);
    else editWebhookMessage(context.world, message, edit);
    return payload(context, message);
  }),
  openRoute('DELETE', `${BASE}/messages/:messageId`, (context) => {
    deleteMessage(context.world, messageOf(context, holderOf(context)));
    return undefined;
  }),
];

const name = z
  .string()
  .min(1)
  .max(80)
  .refine((text) => !/clyde|discord/i.test(text), {
    error: 'Username cannot contain "discord"',
    params: { code: 'USERNAME_INVALID_CONTAINS' },
  });

const webhookForm = z.object({ name, avatar: z.string().nullish() });

const webhookEditForm = z.object({
  name: name.optional(),
  avatar: z.string().nullish(),
  channel_id: snowflake.optional(),
});

const webhookExecuteForm = z.object({
  ...messageForm.shape,
  username: name.nullish(),
  avatar_url: z.string().nullish(),
  thread_name: z.string().min(1).max(100).nullish(),
});
