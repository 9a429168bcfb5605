import type {
  AnySelectMenuInteraction,
  Attachment,
  ButtonInteraction,
  Channel,
  ChannelType,
  Guild,
  GuildBasedChannel,
  GuildMember,
  Message,
  MessageReplyOptions,
  ModalSubmitInteraction,
  Role,
  User,
} from 'discord.js';
import { z } from 'zod';
import type { AccessPolicy, Actor, Decision, DecisionReason, Tier } from './access.js';
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
  /**
   * Checks a further policy, for a command that everyone may use and whose options ask for more. What a policy for admins admits is in the audit.
   * @param name what rules of access call it; by default the command's name
   * @throws CINNABAR_ACCESS_DENIED with the reasons
   * @example if (mood !== undefined) await ctx.requireAccess({ tier: 'admin' });
   */
  requireAccess(policy: AccessPolicy, name?: string): Promise<void>;
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
  /** Set for a command that changes something for all members although its policy admits everyone: each use is in the audit, as those of admins' commands are. */
  readonly audited?: boolean;
  /** Set where it only shows something: `!audit` leaves its uses out unless it is asked for all. A function decides by what was given, as it was typed. */
  readonly reads?: boolean | ((given: Given) => boolean);
  /**
   * Set where what follows the command's name may be a secret: the audit has the name alone. A function names the options whose values it withholds,
   * by what was given for each option, as it was typed.
   */
  readonly withheld?: boolean | Withheld;
  run(context: CommandContext, options: OptionValues<S>): unknown;
}

/** Names the options of a use of a command that may hold a secret. */
export type Withheld = (given: Given) => readonly string[];

/** What was given for each option of a command, as it was typed. */
export type Given = Readonly<Record<string, string | number | boolean>>;

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

/** Whether a member may run a command. */
export interface ExplainedCommand {
  readonly command: CommandInfo;
  readonly decision: Decision;
  /** Why it has to wait although the decision allows it: it was used too often. */
  readonly cooldown?: DecisionReason;
}

/** Whether suggestions are wanted in a guild. */
export type SuggestionChoice = (guildId: string) => boolean | Promise<boolean>;

/** The directory of commands. */
export interface Commands {
  /** What the actor may run in that place, by full name, sorted. */
  visibleTo(actor: Actor): Promise<readonly CommandInfo[]>;
  /**
   * The full names of all commands, and of the groups around them, sorted.
   * @param guildId with the commands that its members have made
   */
  names(guildId?: string): readonly string[];
  /**
   * Ids of the plugins that have a command of this full name, or of a group with this name; where none has it, of the one that had it while it
   * last ran in this process.
   */
  owners(name: string): readonly string[];
  /** Whether a plugin has a command or group of this name or alias (one word), switched on or not. */
  has(name: string): boolean;
  /**
   * Whether the actor may run a command there, with every reason; for a group, each of its commands. Switched off or not, visible or not.
   * @param name full name or alias; none has it: no entries
   */
  explain(actor: Actor, name: string): Promise<readonly ExplainedCommand[]>;
  /** What a name that does not exist may have been meant for: what does here what a command of Red does, then the nearest names. */
  similar(name: string, among: readonly Pick<CommandInfo, 'name'>[]): readonly string[];
  /**
   * Says where commands that do not exist are answered with a suggestion; everywhere until then. The plugin that keeps the choices calls it; the
   * last call counts.
   * @returns takes it back
   */
  suggestWhere(choice: SuggestionChoice): () => void;
  /** Whether this message runs a command (known, and enabled here): such a message is not also a turn. */
  matches(message: Message): boolean;
}
export const Commands = defineToken<Commands>('cinnabar.commands');

/** A command that members have made for one guild. It is typed only: it is not in the slash menu. */
export interface GuildCommand {
  /** As other commands' names. */
  readonly name: string;
  readonly description: string;
  readonly cooldown?: Cooldown;
  /** @param text what was typed after its name */
  run(context: CommandContext, text: string): unknown;
}

/** What an alias stands for. */
export interface AliasExpansion {
  readonly text: string;
  /** The tier that its maker had. Members who use it may do no more by it: they may not know what it stands for. */
  readonly tier: Tier;
}

/**
 * The commands and aliases that members have made, by guild. They run as all others do: access rules name them, help lists them, the audit
 * records what was refused. Where a plugin has a command of the same name, that one runs. Asked for messages that begin with a prefix: answer from memory.
 */
export interface GuildCommands {
  /** The same object as long as the command stays the same. */
  find(guildId: string, name: string): GuildCommand | undefined;
  list(guildId: string): readonly GuildCommand[];
  /**
   * What an alias stands for: words of another command, without a prefix. That command decides who may use it.
   * @param rest what was typed after the alias: it has to be in what is returned, where it is to count
   */
  expand?(guildId: string, name: string, rest: string): AliasExpansion | undefined;
}

/** One command of a `group`, with its option types inferred. */
export function subcommand<const O extends OptionShape = Record<never, never>>(
  definition: CommandDefinition<O>,
): Subcommand {
  return {
    ...definition,
    kind: 'command',
    // The router hands over exactly what this command's own schemas produced.
    run: (context, options) => definition.run(context, options as OptionValues<O>),
  };
}

/** A group inside a group: `!config channel set`. */
export function subgroup(
  definition: Omit<GroupDefinition, 'commands'> & { readonly commands: readonly Subcommand[] },
): Subgroup {
  return { ...definition, kind: 'group' };
}

export type ComponentInteraction = ButtonInteraction | AnySelectMenuInteraction | ModalSubmitInteraction;

/** A button, select menu or modal that the plugin answers. */
export interface ComponentDefinition {
  /** Unique in the plugin: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly access?: AccessPolicy;
  /** Whether the audit records each use; by default where its policy asks for a moderator or more. Switch it off for what only shows something. */
  readonly audited?: boolean;
  /** `args` are what `customId(...args)` was given. They come back from Discord: treat them as a claim, not as a fact. */
  run(interaction: ComponentInteraction, args: readonly string[]): unknown;
}

/** A registered component. */
export interface ComponentHandle {
  /** The `custom_id` to put on the component; at most 100 characters in all. */
  customId(...args: readonly string[]): string;
}

/** A command's options by name, in the order in which they are typed. Required ones come first. */
export type OptionShape = Readonly<Record<string, z.ZodType>>;
export type OptionValues<S extends OptionShape> = { readonly [K in keyof S]: z.output<S[K]> };

/** What `option.*` helpers attach to a schema, read by the parser, the slash builder and the help. */
export interface OptionTraits {
  /** How text or a slash value becomes the option's value; plain zod types need none. */
  readonly kind?: 'user' | 'member' | 'role' | 'channel' | 'attachment' | 'duration' | 'rest';
  /** For `channel`: which types may be chosen. */
  readonly channelTypes?: readonly ChannelType[];
  /** Suggests values while the member types; at most 25 are shown. */
  readonly suggest?: Suggest;
}

export interface Suggestion {
  readonly name: string;
  readonly value: string;
}
export type Suggest = (
  typed: string,
  where: { readonly guildId: string | null; readonly userId: string },
) => readonly Suggestion[] | Promise<readonly Suggestion[]>;

/** Traits by schema instance. Weak: a schema that goes takes its traits along. */
export const optionTraits = z.registry<OptionTraits>();

function entity<T extends { id: string }>(what: string, traits: OptionTraits): z.ZodType<T, T> {
  return z
    .custom<T>((value) => typeof value === 'object' && value !== null && 'id' in value, `expected a ${what}`)
    .register(optionTraits, traits);
}

/** Helpers for options that plain zod types cannot express. Add `.optional()`, `.default()` or `.describe()` as usual. */
export const option = {
  /** A Discord user: mention, id or name. */
  user: () => entity<User>('user', { kind: 'user' }),
  /** A member of this guild: mention, id, name or nickname. */
  member: () => entity<GuildMember>('member', { kind: 'member' }),
  role: () => entity<Role>('role', { kind: 'role' }),
  /** A channel of this guild, of one of `types` when given. */
  channel: (types?: readonly ChannelType[]) =>
    entity<GuildBasedChannel>(
      'channel',
      types === undefined ? { kind: 'channel' } : { kind: 'channel', channelTypes: types },
    ),
  /** A file: attached to the message, or chosen in the slash menu. */
  attachment: () => entity<Attachment>('file', { kind: 'attachment' }),
  /** `90s`, `10m`, `1h30m`, `2d`; the value is in milliseconds. */
  duration: () => z.number().int().nonnegative().register(optionTraits, { kind: 'duration' }),
  /** Everything that is left of the line, spaces and quotes kept. Must be the last option. */
  rest: () => z.string().min(1).register(optionTraits, { kind: 'rest' }),
  /** A text option with suggestions while typing. */
  suggested: (suggest: Suggest) => z.string().min(1).register(optionTraits, { suggest }),
} as const;
