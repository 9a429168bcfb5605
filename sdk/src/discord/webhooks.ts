import { type Client, type SendableChannels, type Webhook, WebhookType } from 'discord.js';

/** Webhooks are looked up once a channel and process; those of the channels used last are kept. */
const REMEMBERED = 500;
const known = new WeakMap<Client, Map<string, Promise<Webhook | undefined>>>();

/** The channel whose webhooks speak in a place: of a thread, the channel that it belongs to. `undefined` where there are none. */
export function webhookHome(channel: SendableChannels) {
  if (channel.isDMBased()) return undefined;
  const home = channel.isThread() ? channel.parent : channel;
  return home !== null && 'fetchWebhooks' in home && 'createWebhook' in home ? home : undefined;
}

/** Whether the bot may look up and make webhooks there. */
export function mayManageWebhooks(channel: SendableChannels): boolean {
  const home = webhookHome(channel);
  const me = home?.guild.members.me;
  return home !== undefined && me != null && home.permissionsFor(me).has('ManageWebhooks');
}

/**
 * The bot's own webhook for a channel, made when there is none: one for everything that the bot says there under another name.
 * @returns `undefined` where there are no webhooks
 * @throws what Discord refuses it with: no Manage Webhooks, too many webhooks
 */
export function ownWebhook(channel: SendableChannels): Promise<Webhook | undefined> {
  const home = webhookHome(channel);
  if (home === undefined) return Promise.resolve(undefined);
  const webhooks = known.get(channel.client) ?? new Map<string, Promise<Webhook | undefined>>();
  known.set(channel.client, webhooks);
  const found = webhooks.get(home.id) ?? findOrCreate(home);
  webhooks.delete(home.id);
  webhooks.set(home.id, found);
  found.catch(() => forgetOwnWebhook(channel));
  for (const oldest of webhooks.keys()) {
    if (webhooks.size <= REMEMBERED) break;
    webhooks.delete(oldest);
  }
  return found;
}

/** To be called when Discord no longer knows it: the next message looks for another one. */
export function forgetOwnWebhook(channel: SendableChannels): void {
  const home = webhookHome(channel);
  if (home !== undefined) known.get(channel.client)?.delete(home.id);
}

type Home = NonNullable<ReturnType<typeof webhookHome>>;

async function findOrCreate(home: Home): Promise<Webhook | undefined> {
  const { client } = home;
  const there = await home.fetchWebhooks();
  const own = there.find(
    ({ applicationId, type, token }) =>
      type === WebhookType.Incoming && token !== null && applicationId === client.application.id,
  );
  if (own !== undefined) return own;
  // Discord refuses webhooks that pass for its own.
  const name = /discord|clyde/i.test(client.user.displayName) ? 'Cinnabar' : client.user.displayName;
  return home.createWebhook({ name, reason: 'speaks under the names of its agents' });
}

/** What a message by the webhook needs beside its text to be in this place. */
export function webhookPlace(channel: SendableChannels): { readonly threadId?: string } {
  return channel.isThread() ? { threadId: channel.id } : {};
}
