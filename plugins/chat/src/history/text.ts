import { sanitizeName } from '@cinnabar/sdk';
import { type GuildMember, type Message, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { People } from './people.js';

/** What text is read in: who is called what, and for whose eyes. */
export interface Reading {
  readonly people: People;
  readonly channel: SendableChannels;
  readonly member: GuildMember | null;
}

const MARKUP =
  /<@!?(?<user>\d+)>|<@&(?<role>\d+)>|<#(?<channel>\d+)>|<a?:(?<emoji>\w+):\d+>|<t:(?<time>-?\d+)(?::\w)?>|<\/(?<command>[^:<>]+):\d+>/g;

/** Discord's markup as people see it: mentions, emoji, times and commands by name. */
export function readable(text: string, reading: Reading): string {
  return text.replace(MARKUP, (markup: string, ...rest: unknown[]) => {
    const groups = rest.at(-1);
    if (typeof groups !== 'object' || groups === null) return markup;
    const found = Object.entries(groups).find(([, value]) => value !== undefined);
    return found === undefined ? markup : nameFor(found[0], String(found[1]), reading);
  });
}

function nameFor(kind: string, value: string, reading: Reading): string {
  const { people, channel } = reading;
  const guild = channel.isDMBased() ? null : channel.guild;
  switch (kind) {
    case 'user': {
      const user = guild?.members.cache.get(value) ?? channel.client.users.cache.get(value);
      return `@${people.nameOf(value) ?? (sanitizeName(user?.displayName ?? '') || 'someone')}`;
    }
    case 'role':
      return `@${sanitizeName(guild?.roles.cache.get(value)?.name ?? '') || 'a role'}`;
    case 'channel':
      return `#${channelName(value, reading) ?? 'a channel'}`;
    case 'emoji':
      return `:${value}:`;
    case 'time':
      return timeText(Number(value));
    default:
      return `/${value}`;
  }
}

/** Only what the asking member can see has a name for the model. */
function channelName(id: string, { channel, member }: Reading): string | undefined {
  const mentioned = channel.isDMBased() ? undefined : channel.guild.channels.cache.get(id);
  if (mentioned === undefined || member === null) return undefined;
  const visible = mentioned.permissionsFor(member).has(PermissionFlagsBits.ViewChannel);
  return visible ? sanitizeName(mentioned.name) : undefined;
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? 'some time' : time.toISOString().replace(/:\d\d\.000Z$/, ' UTC');
}

/** What a message holds beside its text, a line each. */
export function notesOn(message: Message): readonly string[] {
  return [
    ...message.attachments.map(
      ({ name, contentType, size }) => `[attachment: ${oneLine(name)}, ${contentType ?? 'file'}, ${sizeText(size)}]`,
    ),
    ...message.stickers.map(({ name }) => `[sticker: ${oneLine(name)}]`),
    ...message.embeds.map(
      ({ title, description, url }) => `[embed: ${oneLine(title ?? description ?? url ?? 'untitled')}]`,
    ),
    ...(message.poll === null ? [] : [`[poll: ${oneLine(message.poll.question.text ?? '')}]`]),
  ];
}

const MAX_NOTE = 200;

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_NOTE ? line : `${[...line].slice(0, MAX_NOTE).join('')}…`;
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
