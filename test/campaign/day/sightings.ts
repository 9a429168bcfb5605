import type { LocalChannel, LocalDiscord, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { MessageFlags } from 'discord.js';
import { codesIn } from './requests.js';

/** A message or reaction that appeared or changed on people's screens. */
export interface Sighting {
  readonly at: number;
  readonly what: 'says' | 'edits' | 'deletes' | 'reacts';
  readonly message: LocalMessage;
  readonly author: string;
  readonly isBot: boolean;
  /** The text at that time; for a reaction, the emoji. */
  readonly text: string;
}

/** The visible content of a message: its text, its embeds, its files. */
export function textOf({ content, embeds, attachments }: LocalMessage): string {
  const shown = embeds.flatMap(({ title, description, fields = [] }) => [
    title ?? '',
    description ?? '',
    ...fields.map(({ name, value }) => `${name}: ${value}`),
  ]);
  const files = attachments.map(({ filename }) => `[file ${filename}]`);
  return [content, ...shown, ...files].filter((part) => part !== '').join('\n');
}

/** Records all visible events on the local Discord, with their local time. */
export class Sightings {
  readonly all: Sighting[] = [];
  readonly #listeners = new Set<(sighting: Sighting) => void>();

  constructor(discord: LocalDiscord) {
    discord.observe((event) => {
      const at = discord.clock.now();
      if (event.type === 'reactionAdd') {
        const { name: author, bot: isBot } = event.user;
        this.#keep({ at, what: 'reacts', message: event.message, author, isBot, text: event.emoji.name ?? '' });
        return;
      }
      const what = { messageCreate: 'says', messageEdit: 'edits', messageDelete: 'deletes' } as const;
      if (event.type !== 'messageCreate' && event.type !== 'messageEdit' && event.type !== 'messageDelete') return;
      const { message } = event;
      if ((message.flags & MessageFlags.Loading) !== 0) return;
      const { name: author, bot: isBot } = message.author;
      this.#keep({ at, what: what[event.type], message, author, isBot, text: textOf(message) });
    });
  }

  onSighting(listener: (sighting: Sighting) => void): void {
    this.#listeners.add(listener);
  }

  /** Messages of the bots of which one version satisfies the condition. */
  said(is: (sighting: Sighting) => boolean): readonly Sighting[] {
    return this.all.filter((one) => one.isBot && (one.what === 'says' || one.what === 'edits') && is(one));
  }

  #keep(sighting: Sighting): void {
    this.all.push(sighting);
    for (const listener of this.#listeners) listener(sighting);
  }
}

/** Whether the message is visible in this user's client. */
export function isSeenBy({ message }: Sighting, user: LocalUser): boolean {
  const { channel, visibleTo } = message;
  if (visibleTo !== undefined) return visibleTo === user;
  return channel.isDm ? channel.recipients.includes(user) : channel.guild?.members.has(user.id) === true;
}

/** Whether it concerns a user: their messages, answers, mentions, codes or direct messages. */
export function concerns(sighting: Sighting, user: LocalUser, codes: ReadonlySet<string>): boolean {
  const { message, text } = sighting;
  const { author, replyTo, mentions, channel, visibleTo } = message;
  if (!isSeenBy(sighting, user)) return false;
  const isTheirs = author.id === user.id || replyTo?.author.id === user.id || visibleTo === user;
  return isTheirs || mentions.users.includes(user) || channel.isDm || codesIn(text).some((code) => codes.has(code));
}

export const nameOf = (channel: LocalChannel): string => {
  if (channel.isDm) return 'a direct message';
  return channel.isThread ? `#${channel.parent?.name ?? ''} › ${channel.name}` : `#${channel.name}`;
};
