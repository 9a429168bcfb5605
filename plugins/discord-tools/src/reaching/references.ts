import { UserError } from '@cinnabar/sdk';

/** A channel as somebody named it. */
export interface ChannelReference {
  readonly channelId: string;
  /** What a link says of its guild, `null` for a direct message; `undefined` where nothing is said. */
  readonly guildId?: string | null;
}

export interface MessageReference {
  readonly channel: ChannelReference;
  readonly messageId: string;
}

const ID = /^\d{1,20}$/;
const MENTION = /^<#(\d{1,20})>$/;
const LINK =
  /^<?https:\/\/(?:www\.|ptb\.|canary\.)?discord(?:app)?\.com\/channels\/(@me|\d{1,20})\/(\d{1,20})(?:\/(\d{1,20}))?\/?>?$/;

/** A channel or thread by id, mention or link. @throws UserError when it is none of these */
export function readChannel(text: string): ChannelReference {
  const given = text.trim();
  if (ID.test(given)) return { channelId: given };
  const mentioned = MENTION.exec(given)?.[1];
  if (mentioned !== undefined) return { channelId: mentioned };
  const linked = readLink(given);
  if (linked !== undefined) return linked.channel;
  throw new UserError(
    'A channel is given as its id, its mention (<#id>) or a link (https://discord.com/channels/server/channel).',
  );
}

/** A message by id in the channel named beside it, or by link: then the link says which channel. @throws UserError */
export function readMessage(channel: string, message: string): MessageReference {
  const given = message.trim();
  if (ID.test(given)) return { channel: readChannel(channel), messageId: given };
  const linked = readLink(given);
  if (linked?.messageId !== undefined) return { channel: linked.channel, messageId: linked.messageId };
  throw new UserError('A message is given as its id, or as a link to it.');
}

/** An id of any other kind, or a mention of it. @throws UserError */
export function readId(text: string, what: 'server' | 'user' | 'role' | 'webhook'): string {
  const id = /^(?:<@[!&]?)?(\d{1,20})>?$/.exec(text.trim())?.[1];
  if (id === undefined) throw new UserError(`A ${what} is given as its id, a number.`);
  return id;
}

function readLink(text: string): { channel: ChannelReference; messageId: string | undefined } | undefined {
  const [, guild, channelId, messageId] = LINK.exec(text) ?? [];
  if (guild === undefined || channelId === undefined) return undefined;
  return { channel: { channelId, guildId: guild === '@me' ? null : guild }, messageId };
}
