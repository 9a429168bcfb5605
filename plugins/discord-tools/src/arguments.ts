import { readDiscordLink, t, UserError, z } from '@cinnabar/sdk';
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';

export const channelField = z.string().min(1).max(200).describe('Channel or thread: id, <#id> or link');
export const messageField = z.string().min(1).max(200).describe('Message: id or link');
export const threadField = z.string().min(1).max(200).describe('Thread: id, <#id> or link');
export const forumField = z.string().min(1).max(200).describe('Forum channel: id, <#id> or link');
export const categoryField = z.string().min(1).max(200).describe('Category: id');
export const emojiField = z
  .string()
  .min(1)
  .max(100)
  .describe('Emoji: 👍, <:name:id>, or the name of one of this server');
export const guildField = z.string().min(1).max(30).describe('Server (guild): id');
export const userField = z.string().min(1).max(30).describe('Member: user id');
export const roleField = z.string().min(1).max(30).describe('Role: id');
export const webhookField = z.string().min(1).max(30).describe('Webhook: id');
export const reasonField = z.string().max(400).optional().describe('For the audit log');
export const textField = z
  .string()
  .min(1)
  .max(20_000)
  .describe('Text, in Markdown; over 2,000 characters it becomes several messages');

/** A channel as an argument names it. */
export interface ChannelReference {
  readonly channelId: string;
  /** The guild in a link, `null` for a direct message; `undefined` when the channel was not given as a link. */
  readonly guildId?: string | null;
}

interface MessageReference {
  readonly channel: ChannelReference;
  readonly messageId: string;
}

const ID = /^\d{1,20}$/;
const MENTION = /^<#(\d{1,20})>$/;

/** A channel or thread by id, mention or link. @throws UserError for other texts */
export function readChannel(text: string): ChannelReference {
  const given = text.trim();
  if (ID.test(given)) return { channelId: given };
  const mentioned = MENTION.exec(given)?.[1];
  if (mentioned !== undefined) return { channelId: mentioned };
  const linked = readDiscordLink(given);
  if (linked !== undefined) return { channelId: linked.channelId, guildId: linked.guildId };
  throw new UserError(
    t('A channel is given as its id, its mention (<#id>) or a link (https://discord.com/channels/server/channel).'),
  );
}

/** A message by id in the given channel, or by link, which contains the channel. @throws UserError for other texts */
export function readMessage(channel: string, message: string): MessageReference {
  const given = message.trim();
  if (ID.test(given)) return { channel: readChannel(channel), messageId: given };
  const linked = readDiscordLink(given);
  if (linked?.messageId !== undefined) {
    return { channel: { channelId: linked.channelId, guildId: linked.guildId }, messageId: linked.messageId };
  }
  throw new UserError(t('A message is given as its id, or as a link to it.'));
}

/** An id, or a mention. @throws UserError for other texts */
export function readId(text: string, what: 'server' | 'user' | 'role' | 'webhook'): string {
  const id = /^(?:<@[!&]?)?(\d{1,20})>?$/.exec(text.trim())?.[1];
  if (id === undefined)
    throw new UserError(
      t('A {what, select, server {server} user {user} role {role} other {webhook}} is given as its id, a number.', {
        what,
      }),
    );
  return id;
}

const BY_NAME: ReadonlyMap<string, bigint> = new Map(
  Object.entries(PermissionFlagsBits).map(([name, bit]) => [plain(name), bit]),
);

export const permissionsField = z.array(z.string().max(60)).max(60);

/** Permissions by name, in any usual spelling: `ManageMessages`, `MANAGE_MESSAGES`, "Manage Messages". @throws UserError for unknown names */
export function readPermissions(names: readonly string[]): Readonly<PermissionsBitField> {
  const unknown = names.filter((name) => !BY_NAME.has(plain(name)));
  if (unknown.length > 0) {
    throw new UserError(
      t('There is no permission called {names}.', { names: unknown.map((name) => JSON.stringify(name)).join(', ') }),
    );
  }
  return new PermissionsBitField(names.map((name) => BY_NAME.get(plain(name)) ?? 0n)).freeze();
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
