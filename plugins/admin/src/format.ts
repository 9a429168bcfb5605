import {
  type AccessPolicy,
  type Actor,
  type CommandContext,
  permissionName,
  type Suggest,
  type Tier,
  UserError,
  visible,
} from '@cinnabar/sdk';

const MAX_VALUE = 200;

/** A value as inline code: one line, nothing hidden, no way out of the code span. */
export function code(value: unknown): string {
  const text = visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'not set')).replaceAll('`', 'ˋ');
  const characters = [...text];
  const shown = characters.length <= MAX_VALUE ? text : `${characters.slice(0, MAX_VALUE).join('')}…`;
  return shown.trim() === '' ? '`(empty)`' : `\`${shown}\``;
}

export function codes(values: readonly string[]): string {
  return values.map(code).join(', ');
}

export const TIER_WORDS: Readonly<Record<Tier, string>> = {
  everyone: 'everyone',
  mod: 'moderators',
  admin: 'admins',
  guildOwner: 'the owner of the server',
  botOwner: 'the owner of the bot',
};
const PLACE_WORDS = { guild: 'in servers', dm: 'in direct messages', anywhere: undefined } as const;

/** "admins, in servers, with Manage Messages" */
export function whoMay({ tier, member, where }: AccessPolicy): string {
  const parts = [
    TIER_WORDS[tier ?? 'everyone'],
    PLACE_WORDS[where ?? 'anywhere'],
    member === undefined || member.length === 0 ? undefined : `with ${member.map(permissionName).join(' and ')}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** A mention, which works as a prefix too, is shown by name. */
export function readablePrefix({ prefix, channel }: CommandContext): string {
  return prefix.startsWith('<@') ? `@${channel.client.user.displayName} ` : prefix;
}

/** The guild of a command. @throws UserError in a direct message */
export function guildOf({ guildId }: Actor): string {
  if (guildId === null) throw new UserError('This only works in a server.');
  return guildId;
}

/** Discord's limit. */
export const MAX_SUGGESTIONS = 25;

/** Suggestions for a slash command's option: the names that contain what was typed. */
export function suggestFrom(names: () => readonly string[]): Suggest {
  return (typed) =>
    names()
      .filter((name) => name.toLowerCase().includes(typed.toLowerCase()))
      .slice(0, MAX_SUGGESTIONS)
      .map((name) => ({ name, value: name }));
}
