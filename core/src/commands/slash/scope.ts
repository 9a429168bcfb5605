import { type CommandEntry, type Entry, leavesOf } from '../registry/entry.js';

/** Which of Discord's lists: a guild's own, or the global one, which Cinnabar uses for direct messages alone. */
export type SlashScope = 'guild' | 'dm';

/** Whether a command belongs in that list. */
export function belongs(command: CommandEntry, scope: SlashScope): boolean {
  if (command.surface === 'prefix') return false;
  const where = command.policy.where ?? 'anywhere';
  return where === 'anywhere' || where === scope;
}

/** Whether anything of a command or group belongs in that list. */
export function anyBelongs(entry: Entry, scope: SlashScope): boolean {
  return leavesOf(entry).some((leaf) => belongs(leaf, scope));
}
