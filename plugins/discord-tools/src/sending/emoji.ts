import { UserError } from '@cinnabar/sdk';
import { type Client, type Message, type MessageReaction, parseEmoji } from 'discord.js';
import type { Caller, Parts } from '../parts.js';
import { may } from '../reaching/may.js';
import { placeOf } from '../reaching/places.js';

export interface ReadEmoji {
  /** As discord.js takes it: a Unicode emoji, or `name:id`. */
  readonly key: string;
  /** Of a custom one. */
  readonly id: string | undefined;
}

/** Reads 👍, `<:name:id>`, `name:id`, an id, or the name of an emoji of the message's own server. @throws UserError */
export function readEmoji(client: Client, message: Message, text: string): ReadEmoji {
  const given = text.trim();
  const own = message.guild?.emojis.cache.find(({ name }) => name === given.replace(/^:|:$/g, ''));
  const custom = own ?? client.emojis.cache.get(/^\d{1,20}$/.test(given) ? given : '');
  if (custom !== undefined) return { key: `${custom.name}:${custom.id}`, id: custom.id };
  const { id, name } = parsedEmoji(given);
  return id === undefined ? { key: name, id: undefined } : { key: `${name}:${id}`, id };
}

/** The parts of 👍, `<:name:id>` or `name:id`. @throws UserError */
export function parsedEmoji(text: string): { readonly name: string; readonly id: string | undefined } {
  const { name = '', id } = parsed(text) ?? {};
  if (name === '' || /\s/.test(text)) throw new UserError('An emoji is given as itself (👍), or as <:name:id>.');
  return { name, id: id ?? undefined };
}

function parsed(text: string) {
  try {
    return parseEmoji(text);
  } catch {
    // It takes a percent sign for the beginning of an escape.
    return null;
  }
}

/** Emoji of other servers are for those who may use them here. @throws UserError */
export async function requireUsable(
  parts: Parts,
  caller: Caller,
  message: Message,
  { id }: Pick<ReadEmoji, 'id'>,
): Promise<void> {
  if (id === undefined || message.guild === null || message.guild.emojis.cache.has(id)) return;
  if (await may(parts, caller, placeOf(message.channel), ['UseExternalEmojis'], ['UseExternalEmojis'])) return;
  throw new UserError('Emoji of other servers may not be used here.');
}

/** The reaction with that emoji, when the message has one. */
export function reactionOf(message: Message, { key, id }: ReadEmoji): MessageReaction | undefined {
  return message.reactions.cache.get(id ?? key);
}
