import type { AccessPolicy, CommandContext, CommandInfo, Cooldown } from '@cinnabar/sdk';
import type { Owner } from '../../contracts.js';
import type { Values } from '../options/bind.js';
import type { OptionSpec } from '../options/spec.js';

interface EntryBase {
  readonly owner: Owner;
  /** Its last word: `list` of `plugin list`. */
  readonly key: string;
  readonly aliases: readonly string[];
  /** Full name, `plugin list`. */
  readonly name: string;
  readonly description: string;
  readonly help: string | undefined;
  /** Its own policy with those of the groups around it. */
  readonly policy: AccessPolicy;
  readonly surface: 'both' | 'prefix' | 'slash';
}

/** A command that runs. */
export interface CommandEntry extends EntryBase {
  readonly kind: 'command';
  readonly specs: readonly OptionSpec[];
  readonly info: CommandInfo;
  readonly cooldown: Cooldown | undefined;
  readonly ephemeral: boolean;
  /** The audit records each use, also where every member may use it. */
  readonly audited: boolean;
  readonly run: (context: CommandContext, options: Values) => unknown;
}

/** A command of commands. */
export interface GroupEntry extends EntryBase {
  readonly kind: 'group';
  readonly children: readonly Entry[];
  /** Children by name and alias. */
  readonly byName: ReadonlyMap<string, Entry>;
}

export type Entry = CommandEntry | GroupEntry;

/** The commands at the ends of an entry's branches, in the order of their declaration. */
export function leavesOf(entry: Entry): readonly CommandEntry[] {
  return entry.kind === 'command' ? [entry] : entry.children.flatMap(leavesOf);
}
