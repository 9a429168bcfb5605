import type { Actor } from './access.js';
import { visible } from './text/untrusted.js';
import { defineToken } from './token.js';

/** One thing that a file of a guild adds, changes or removes. */
export interface GuildFileDifference {
  readonly kind: 'added' | 'changed' | 'removed';
  /** Where it stands in the file: `settings.chat.history`. */
  readonly what: string;
  /** The values as text, with the names of roles and channels; empty where there is none. */
  readonly before: string;
  readonly after: string;
}

/** What a file would change in a guild. */
export interface GuildFilePlan {
  readonly differences: readonly GuildFileDifference[];
  /** What to know before it is applied, as sentences. */
  readonly notes: readonly string[];
  /**
   * Applies it, all or nothing, with one entry in the audit; what was there before is kept for `planUndo`.
   * @throws UserError when something has changed since it was planned, or it cannot be saved; then nothing is applied
   */
  apply(actor: Actor): Promise<void>;
}

/**
 * Everything that can be chosen for a guild as one YAML file: plugins, prefixes, roles, access rules, tool policies and the settings of all plugins.
 * A section that the file does not have is left alone; one that it has is complete: what is not in it goes back to the default. In `settings` and
 * `channels` each plugin is a section of its own. Secrets are neither written nor read.
 */
export interface GuildFiles {
  export(guildId: string): Promise<string>;
  /** @throws UserError that names each line that cannot be used */
  plan(guildId: string, text: string, actor: Actor, options?: GuildFileOptions): Promise<GuildFilePlan>;
  /** What goes back to before the file that was applied last; `undefined` when none was. */
  planUndo(guildId: string): Promise<GuildFilePlan | undefined>;
}
export const GuildFiles = defineToken<GuildFiles>('cinnabar.guild-files');

export interface GuildFileOptions {
  /** A file for any guild: which one it was exported from does not count, and it names no roles, members or channels. */
  readonly template?: boolean;
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

/** A difference as a line: `~ settings.chat.history: 40 → 80`. */
export function lineOfDifference({ kind, what, before, after }: GuildFileDifference): string {
  const values = [before, after].filter((text) => text !== '').join(' → ');
  // Values and names are anybody's text: none of it may pass for another line.
  return visible(`${SIGNS[kind]} ${what}${values === '' ? '' : `: ${values}`}`);
}
