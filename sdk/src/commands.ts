import type { Channel, Guild, GuildMember, Message, MessageReplyOptions, User } from 'discord.js';
import type { AccessPolicy, Actor } from './access.js';
import type { OptionShape, OptionValues } from './options.js';
import { defineToken } from './token.js';

/** Where a reply goes and how; a string is its content. */
export type Reply = string | ReplyBody;
export interface ReplyBody {
  readonly content?: string;
  readonly embeds?: MessageReplyOptions['embeds'];
  readonly components?: MessageReplyOptions['components'];
  readonly files?: MessageReplyOptions['files'];
  /**
   * Whether the program speaks about itself: then no model reads it. By default what the manifest's `administrative` says for answers to
   * commands; in a turn an answer is a mind's own word unless this is set.
   */
  readonly notice?: boolean;
  /** Only the caller sees it where Discord can do that (slash); by default the command's `ephemeral`. */
  readonly ephemeral?: boolean;
}

/** What a command's `run` gets beside its options. Mentions in replies never ping anyone but the caller. */
export interface CommandContext {
  readonly name: string;
  readonly source: 'prefix' | 'slash';
  readonly actor: Actor;
  readonly user: User;
  /** `null` in a direct message. */
  readonly member: GuildMember | null;
  readonly guild: Guild | null;
  readonly channel: Channel;
  /** The member's message; `null` for a slash command. */
  readonly message: Message | null;
  /** The prefix that was typed, or `/`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The first call answers, later ones follow up. Text over Discord's limit is split without breaking fences. */
  reply(reply: Reply): Promise<Message>;
  /** For work of more than 2 s: shows that the bot is thinking. */
  defer(): Promise<void>;
}

export interface Cooldown {
  readonly uses: number;
  readonly perMs: number;
  /** Per user by default. */
  readonly by?: 'user' | 'guild' | 'channel';
}

interface CommandBase {
  /** Lower case letters, digits, `-` and `_`, at most 32. */
  readonly name: string;
  /** 1 to 100 characters; shown in help and in the slash menu. */
  readonly description: string;
  readonly aliases?: readonly string[];
  readonly access?: AccessPolicy;
  /** Hybrid by default; `prefix` or `slash` restricts it to one. */
  readonly surface?: 'both' | 'prefix' | 'slash';
  /** Longer help, in Markdown. */
  readonly help?: string;
}

export interface CommandDefinition<S extends OptionShape = OptionShape> extends CommandBase {
  readonly options?: S;
  readonly cooldown?: Cooldown;
  /** Slash replies are seen by the caller alone. */
  readonly ephemeral?: boolean;
  readonly examples?: readonly string[];
  /** Set for a command that changes something for everybody although its policy admits everyone: each use is in the audit, as those of admins' commands are. */
  readonly audited?: boolean;
  run(context: CommandContext, options: OptionValues<S>): unknown;
}

/** A command of commands: `!plugin list`. `access` applies to every one of them, beside its own. */
export interface GroupDefinition extends CommandBase {
  /** Made with `subcommand(…)`, or with `subgroup(…)` for one more level. */
  readonly commands: readonly (Subcommand | Subgroup)[];
}

/** A command with its option types checked and then hidden, so that different ones fit in one list. */
export interface Subcommand extends Omit<CommandDefinition, 'run'> {
  readonly kind: 'command';
  run(context: CommandContext, options: Readonly<Record<string, unknown>>): unknown;
}
export interface Subgroup extends Omit<GroupDefinition, 'commands'> {
  readonly kind: 'group';
  readonly commands: readonly Subcommand[];
}

/** What the command directory tells of one command, for help and for `ai`. */
export interface CommandInfo {
  readonly plugin: string;
  /** Full name, `plugin reload`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly help?: string;
  /** `<required> [optional]`, from the options. */
  readonly usage: string;
  readonly options: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
    readonly type: string;
  }[];
  readonly examples: readonly string[];
  readonly access: AccessPolicy;
  readonly surface: 'both' | 'prefix' | 'slash';
}

/** The directory of commands. */
export interface Commands {
  /** What the actor may run in that place, by full name, sorted. */
  visibleTo(actor: Actor): Promise<readonly CommandInfo[]>;
  /** The nearest names to one that does not exist. */
  similar(name: string, among: readonly CommandInfo[]): readonly string[];
  /** Whether this message runs a command (known, and enabled here): such a message is not also a turn. */
  matches(message: Message): boolean;
}
export const Commands = defineToken<Commands>('cinnabar.commands');
