import { timingSafeEqual } from 'node:crypto';
import { request } from 'node:https';
import {
  auditReason,
  defined,
  isPublicAddress,
  linkSignals,
  literalAddressOf,
  nameText,
  publicLookup,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { ChannelType, type Client, type Webhook } from 'discord.js';
import { channelField, reasonField, textField, webhookField } from '../arguments.js';
import { discordTool } from '../discord-tool.js';
import { channelInSentence, channelOf, channelPlace, findWebhook, webhookPlace } from '../places.js';
import { may, requireUnlocked } from '../rights.js';
import { idsText, messageOptions, messagesFor, sendInOrder } from '../sending.js';
import type { Caller, Context } from '../settings.js';

/** Also for sending through a webhook, because it can use any name. */
const MANAGING_WEBHOOKS = ['ViewChannel', 'ManageWebhooks'] as const;
const tokenField = z
  .string()
  .max(200)
  .optional()
  .describe("Not needed: the bot looks up the webhook's token itself. A wrong one is refused");
const avatarField = z.string().max(3_000_000).optional().describe('The picture: an https:// address, or a data URI');

export function webhookTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_create_webhook',
      description:
        'Create a webhook in a channel. Its id is enough to speak through it with discord_send_webhook_message.',
      input: z.object({
        channelId: channelField,
        name: z.string().trim().min(1).max(80).describe('The name under which it speaks'),
        avatar: avatarField,
        reason: reasonField,
      }),
      risk: 'write',
      permissions: MANAGING_WEBHOOKS,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['create a webhook called {name} in {channelId}'],
      async run({ channelId, name, avatar, reason }, call) {
        const channel = await channelOf(client, channelId);
        if (!('createWebhook' in channel)) throw new UserError(t('There are no webhooks in a channel of this kind.'));
        const image = avatar === undefined ? undefined : await fetchImage(avatar, call.signal);
        const webhook = await channel.createWebhook({
          name,
          ...defined({ avatar: image }),
          reason: auditReason(context.client, call.actor, reason),
        });
        return viewWebhook(webhook);
      },
      present: {
        sentence: ({ name, channelId }) =>
          t("I'll create the webhook {name} in {channel}", {
            name,
            channel: channelInSentence(client, channelId),
          }),
        said: ['name'],
        action: 'Create webhook',
        success: (_, { id, name, channelId }) =>
          t('✓ Created the webhook {name} ({id}) in <#{channelId}>.', { name: nameText(name), id, channelId }),
        cancelled: ({ name }) => t('Cancelled creating the webhook {name}.', { name }),
      },
    }),
    discordTool({
      name: 'discord_list_webhooks',
      description: 'List the webhooks of a channel with their ids.',
      input: z.object({ channelId: channelField }),
      risk: 'read',
      permissions: MANAGING_WEBHOOKS,
      place: ({ channelId }) => channelPlace(client, channelId),
      examples: ['which webhooks are there in {channelId}?'],
      async run({ channelId }) {
        const channel = await channelOf(client, channelId);
        if (!('fetchWebhooks' in channel)) throw new UserError(t('There are no webhooks in a channel of this kind.'));
        return { webhooks: (await channel.fetchWebhooks()).map(viewWebhook) };
      },
      present: {
        sentence: ({ channelId }) =>
          t("I'll list the webhooks in {channel}", {
            channel: channelInSentence(client, channelId),
          }),
        action: 'List webhooks',
        success: (_, { webhooks }) =>
          webhooks.length === 0
            ? t('There are no webhooks.')
            : webhooks.map(({ id, name }) => t('{name} (webhook {id})', { name: nameText(name), id })).join('\n'),
      },
    }),
    discordTool({
      name: 'discord_send_webhook_message',
      description: 'Send a message through a webhook, under its name or another. Returns the id of each message sent.',
      input: z.object({
        webhookId: webhookField,
        webhookToken: tokenField,
        content: textField,
        username: z.string().trim().min(1).max(80).optional().describe('Another name for this once'),
        avatarURL: z.string().max(2000).optional().describe('Another picture for this once: an https:// address'),
        threadId: z.string().max(200).optional().describe("A thread of the webhook's channel: its id"),
      }),
      risk: 'write',
      permissions: MANAGING_WEBHOOKS,
      place: ({ webhookId, threadId }) => webhookPlace(client, webhookId, threadId),
      examples: ['send {content} through the webhook {webhookId}'],
      async run({ webhookId, webhookToken, content, username, avatarURL, threadId }, call) {
        const webhook = await webhookOf(client, webhookId, webhookToken);
        if (webhook.token === null)
          throw new UserError(
            t(
              'Discord does not let me speak through this webhook: another application has made it, or another server.',
            ),
          );
        const channel = await channelOf(client, threadId ?? webhook.channelId);
        const avatar = avatarURL === undefined ? undefined : readHttpsUrl(avatarURL).href;
        await requireUnlocked(context, call, channel);
        const options = await messageOptions(context, call, channel, content);
        const contents = await messagesFor(context, call, channel.isDMBased() ? null : channel.guildId, content);
        const messageIds: string[] = [];
        await sendInOrder(contents, call.signal, messageIds, (part) =>
          webhook.send({
            content: part,
            ...options,
            ...defined({ username }),
            ...(avatar === undefined ? {} : { avatarURL: avatar }),
            ...(threadId === undefined ? {} : { threadId: channel.id }),
          }),
        );
        return { channelId: channel.id, messageIds };
      },
      present: {
        sentence: () => t("I'll send a message through a webhook"),
        action: 'Send webhook message',
        success: (_, posted) =>
          t('✓ Sent in <#{channelId}>: {messages}.', { channelId: posted.channelId, messages: idsText(posted) }),
        cancelled: () => t('Cancelled the message.'),
      },
    }),
    discordTool({
      name: 'discord_edit_webhook',
      description: 'Change the name or picture of a webhook, or move it to another channel.',
      input: z.object({
        webhookId: webhookField,
        webhookToken: tokenField,
        name: z.string().trim().min(1).max(80).optional().describe('New name'),
        avatar: avatarField,
        channelId: z.string().max(200).optional().describe('The channel to move it to: its id'),
        reason: reasonField,
      }),
      risk: 'write',
      idempotent: true,
      permissions: MANAGING_WEBHOOKS,
      place: ({ webhookId }) => webhookPlace(client, webhookId),
      examples: ['rename the webhook {webhookId} to {name}'],
      async run({ webhookId, webhookToken, name, avatar, channelId, reason }, call) {
        const webhook = await webhookOf(client, webhookId, webhookToken);
        const channel =
          channelId === undefined ? undefined : await channelToMoveTo(context, call, webhook.guildId, channelId);
        const image = avatar === undefined ? undefined : await fetchImage(avatar, call.signal);
        const edited = await webhook.edit({
          ...defined({ name }),
          ...defined({ avatar: image }),
          ...defined({ channel }),
          reason: auditReason(context.client, call.actor, reason),
        });
        return viewWebhook(edited);
      },
      present: {
        sentence: () => t("I'll change a webhook"),
        action: 'Change webhook',
        success: (_, { id, name, channelId }) =>
          t('✓ Changed the webhook {name} ({id}) in <#{channelId}>.', { name: nameText(name), id, channelId }),
        cancelled: () => t('Cancelled changing the webhook.'),
      },
    }),
    discordTool({
      name: 'discord_delete_webhook',
      description: 'Delete a webhook. What it has said stays.',
      input: z.object({ webhookId: webhookField, webhookToken: tokenField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_WEBHOOKS,
      place: ({ webhookId }) => webhookPlace(client, webhookId),
      examples: ['delete the webhook {webhookId}'],
      async run({ webhookId, webhookToken, reason }, call) {
        const webhook = await webhookOf(client, webhookId, webhookToken);
        const deleted = viewWebhook(webhook);
        await client.deleteWebhook(webhook.id, { reason: auditReason(context.client, call.actor, reason) });
        return deleted;
      },
      present: {
        sentence: () => t("I'll delete a webhook"),
        action: 'Delete webhook',
        success: (_, { id, name }) => t('✓ Deleted the webhook {name} ({id}).', { name: nameText(name), id }),
        cancelled: () => t('Cancelled deleting the webhook.'),
      },
    }),
  ];
}

/** A channel of the same guild in which the requester manages webhooks, too. @throws UserError */
async function channelToMoveTo(context: Context, caller: Caller, guildId: string, channelId: string) {
  const place = await channelPlace(context.client, channelId);
  if (place.guildId !== guildId || !(await may(context, caller, place, MANAGING_WEBHOOKS, MANAGING_WEBHOOKS))) {
    throw new UserError(t('There is no channel with that id to which it can be moved.'));
  }
  const channel = await channelOf(context.client, channelId);
  if (channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildForum) return channel;
  throw new UserError(t('A webhook is moved to a text channel or a forum.'));
}

/** Without the token, with which anyone could send through the webhook. */
interface WebhookView {
  readonly id: string;
  readonly name: string;
  readonly channelId: string;
}

function viewWebhook({ id, name, channelId }: Webhook): WebhookView {
  return { id, name, channelId };
}

/** A webhook in the place that the host has decided about. @throws UserError if it was deleted, or the given token is wrong */
async function webhookOf(client: Client, id: string, token: string | undefined): Promise<Webhook> {
  const webhook = await findWebhook(client, id);
  if (webhook === undefined) throw new UserError(t('There is no webhook with that id that I can reach.'));
  if (token !== undefined && !isSame(token, webhook.token)) throw new UserError(t('The webhook token is not right.'));
  return webhook;
}

function isSame(given: string, own: string | null): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(own ?? '')];
  return own !== null && one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

/** Maximum size of an avatar, below Discord's limit. */
const MOST_BYTES = 2 * 1024 * 1024;
const LONGEST_MS = 10_000;
const TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/**
 * Fetches an image for Discord from a data URI or an https address on the public internet. Redirects are not followed, and every address that a name resolves
 * to is checked when connecting, so that nothing in this host's network can be requested.
 * @throws UserError
 */
async function fetchImage(source: string, signal: AbortSignal): Promise<Buffer> {
  const inline = /^data:([a-z]+\/[a-z0-9.+-]+);base64,([a-z0-9+/=\s]+)$/i.exec(source.trim());
  if (inline !== null) return inlineImage(inline[1] ?? '', inline[2] ?? '');
  const url = readHttpsUrl(source);
  const bounded = linkSignals(signal, AbortSignal.timeout(LONGEST_MS));
  try {
    return await download(url, bounded.signal);
  } finally {
    bounded.release();
  }
}

const notAnImage = () => new UserError(t('The avatar has to be a PNG, JPEG, GIF or WebP image.'));
const outOfReach = () => new UserError(t('The avatar could not be fetched from there.'));
const tooLarge = () => new UserError(t('The avatar is too large: 2 MB at most.'));

/** An address of the public internet that may be shown or passed on. @throws UserError */
function readHttpsUrl(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new UserError(t('An image is given as an https:// address.'));
  }
  const literal = literalAddressOf(url);
  if (literal !== undefined && !isPublicAddress(literal)) throw outOfReach();
  return url;
}

function inlineImage(type: string, data: string): Buffer {
  if (!TYPES.includes(type.toLowerCase())) throw notAnImage();
  const image = Buffer.from(data, 'base64');
  if (image.byteLength > MOST_BYTES) throw tooLarge();
  return image;
}

function download(url: URL, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { lookup: publicLookup(), signal, agent: false }, (response) => {
      const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
      const refuse = (refusal: UserError) => {
        response.destroy();
        reject(refusal);
      };
      if (response.statusCode !== 200) return refuse(outOfReach());
      if (!TYPES.includes(type)) return refuse(notAnImage());
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > MOST_BYTES) refuse(tooLarge());
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', () => reject(outOfReach()));
      return undefined;
    });
    asking.on('error', () => reject(outOfReach()));
    asking.end();
  });
}
