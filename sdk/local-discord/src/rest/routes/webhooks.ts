import { findChannel, findGuild } from '../../actions/find.js';
import { announceWebhooks, createWebhook, deleteWebhook, webhookByToken } from '../../actions/webhooks.js';
import { discordError } from '../../errors.js';
import { webhookPayload } from '../../payload/webhook.js';
import { requireInChannel, requireInGuild } from '../../rules/permissions.js';
import type { LocalWebhook } from '../../state/webhook.js';
import type { RestContext } from '../context.js';
import { webhookEditForm, webhookForm } from '../forms/webhook.js';
import { openRoute, route } from '../route.js';

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
