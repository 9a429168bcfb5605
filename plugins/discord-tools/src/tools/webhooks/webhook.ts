import { timingSafeEqual } from 'node:crypto';
import { UserError, z } from '@cinnabar/sdk';
import type { Client, Webhook } from 'discord.js';
import { findWebhook } from '../../reaching/places.js';

/** What webhooks need, of who asks and of the bot: they speak under any name. */
export const MANAGING_WEBHOOKS = ['ViewChannel', 'ManageWebhooks'] as const;

export const tokenField = z
  .string()
  .max(200)
  .optional()
  .describe("Not needed: the bot looks up the webhook's token itself. A wrong one is refused");
export const avatarField = z
  .string()
  .max(3_000_000)
  .optional()
  .describe('The picture: an https:// address, or a data URI');

/** Never with its token, which is all that somebody needs to speak through it. */
export interface WebhookView {
  readonly id: string;
  readonly name: string;
  readonly channelId: string;
}

export function viewWebhook({ id, name, channelId }: Webhook): WebhookView {
  return { id, name, channelId };
}

/** A webhook whose place the host has decided on. @throws UserError when it has gone, or the given token is not its own */
export async function webhookOf(client: Client, id: string, token: string | undefined): Promise<Webhook> {
  const webhook = await findWebhook(client, id);
  if (webhook === undefined) throw new UserError('There is no webhook with that id that I can reach.');
  if (token !== undefined && !isSame(token, webhook.token)) throw new UserError('The webhook token is not right.');
  return webhook;
}

function isSame(given: string, own: string | null): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(own ?? '')];
  return own !== null && one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
