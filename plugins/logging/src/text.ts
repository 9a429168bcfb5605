import { plainText, visible } from '@cinnabar/sdk';
import type { PartialUser, User } from 'discord.js';

/** A text of a member in one line: nothing hidden, no markup, no longer than a few lines of a screen. */
export function quoted(text: string, longest = 400): string {
  const characters = [...visible(text)];
  const shown = characters.length > longest ? `${characters.slice(0, longest).join('')}…` : characters.join('');
  return plainText(shown);
}

/** "alice (@alice)": a name stays readable when the member has left, and a mention leads to them while they are there. */
export function personText(user: User | PartialUser): string {
  return user.username === null ? `<@${user.id}>` : `**${plainText(visible(user.username))}** (<@${user.id}>)`;
}
