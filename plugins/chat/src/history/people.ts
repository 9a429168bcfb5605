import { type Named, participantNames, sanitizeName } from '@cinnabar/sdk';
import type { GuildMember, Message, User } from 'discord.js';

/** What the model could take for something other than a person. */
const RESERVED = ['System', 'Assistant', 'User', 'Human', 'Developer', 'Tool', 'Function', 'everyone', 'here'];

/** Names of those who speak in a piece of history. */
export interface People {
  /** The bot's own. */
  readonly self: string;
  /** By the key of `speakerOf`. */
  nameOf(key: string): string | undefined;
}

/** Who speaks: a user, or one of the names that a webhook uses. */
export function speakerOf(message: Message): string {
  return message.webhookId === null ? message.author.id : `${message.webhookId}/${message.author.username}`;
}

/** Gives everyone in the messages, and the one who asks, a name of their own. */
export function peopleIn(
  messages: readonly Message[],
  asker: { readonly user: User; readonly member: GuildMember | null },
  bot: { readonly id: string; readonly name: string },
): People {
  const self = sanitizeName(bot.name) || 'Cinnabar';
  const people: Named[] = [named(asker.user, asker.member)];
  for (const message of messages) {
    if (message.author.id === bot.id) continue;
    if (message.webhookId === null) people.push(named(message.author, message.member));
    else people.push({ id: speakerOf(message), displayName: message.author.username, username: 'webhook' });
  }
  const names = participantNames(people, [self, ...RESERVED]);
  return { self, nameOf: (key) => (key === bot.id ? self : names.get(key)) };
}

function named(user: User, member: GuildMember | null): Named {
  return { id: user.id, displayName: member?.displayName ?? user.displayName, username: user.username };
}
