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

/** The target and form of a reply; a string is its content. */
export type Reply = string | ReplyBody;
export interface ReplyBody {
  readonly content?: string;
  readonly embeds?: MessageReplyOptions['embeds'];
  readonly components?: MessageReplyOptions['components'];
  readonly files?: MessageReplyOptions['files'];
  /**
   * Whether the text is a notice: then no model reads it. By default the manifest's `administrative` decides for answers to commands; in a turn an answer
   * counts as the responder's own text unless this is set.
   */
  readonly notice?: boolean;
  /** Only the caller sees it, if Discord supports that (slash); by default the command's `ephemeral`. */
  readonly ephemeral?: boolean;
}

/** The context of a command's `run`. Mentions in replies never ping anyone but the caller. */
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
  /** The first call answers, later ones follow up. Long text is split without breaking fences. */
  reply(reply: Reply): Promise<Message>;
  /**
   * Tracks an answer that is sent without `reply`: while it is on its way, the command does not count as interrupted, so that no report of an interruption
   * follows the answer. Returns `message`.
   * @example await ctx.sending(channel.send({ content }));
   */
  sending<P extends Promise<unknown>>(message: P): P;
  /** For work of more than 2 s: shows that the bot is thinking. */
  defer(): Promise<void>;
  /**
   * Checks a further policy, for a command that everyone may use and whose options ask for more. Uses under a policy for admins are recorded in the audit.
   * @param name its name in access rules; by default the command's name
   * @throws CINNABAR_ACCESS_DENIED with the reasons
   * @example if (mood !== undefined) await ctx.requireAccess({ tier: 'admin' });
   */
  requireAccess(policy: AccessPolicy, name?: string): Promise<void>;
}

/** At most `uses` of a command within `perMs` milliseconds; further uses are refused. */
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
  /** Longer help, in Markdown, for `help COMMAND`. */
  readonly help?: string;
}

/** A command as a plugin declares it: one declaration for the parser, the slash command, the help and the checks. */
export interface CommandDefinition<S extends OptionShape = OptionShape> extends CommandBase {
  readonly options?: S;
  readonly cooldown?: Cooldown;
  /** Only the caller sees slash replies. */
  readonly ephemeral?: boolean;
  readonly examples?: readonly string[];
  /** Set for a command that changes something for all members although everyone may use it: the audit records each use, as for admins' commands. */
  readonly audited?: boolean;
  /** Set when it only reads: `!audit` leaves its uses out unless all are requested. A function decides by the typed values. */
  readonly reads?: boolean | ((given: Given) => boolean);
  /**
   * Set when the text after the command's name may contain a secret: the audit then has only the name. A function returns the options whose values are left
   * out, given the typed value of each option.
   */
  readonly withheld?: boolean | Withheld;
  run(context: CommandContext, options: OptionValues<S>): unknown;
}

/** Returns the options of a use of a command that may contain a secret. */
export type Withheld = (given: Given) => readonly string[];

/** The typed value of each option of a command. */
export type Given = Readonly<Record<string, string | number | boolean>>;

/** A group of commands: `!plugin list`. `access` applies to every one of them, in addition to its own. */
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

/** A command in the directory, for help and for `ai`. */
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
  /** Set when the command is allowed but on cooldown: how long the actor has to wait. */
  readonly cooldown?: DecisionReason;
}

/** Whether suggestions are wanted in a guild. */
export type SuggestionChoice = (guildId: string) => boolean | Promise<boolean>;

/** The directory of commands. */
export interface Commands {
  /** The commands that the actor may run in that place, by full name, sorted. */
  visibleTo(actor: Actor): Promise<readonly CommandInfo[]>;
  /**
   * The full names of all commands, and of the groups around them, sorted.
   * @param guildId with the commands that its members have made
   */
  names(guildId?: string): readonly string[];
  /**
   * Ids of the plugins that have a command of this full name, or of a group with this name; when none has it, that of the plugin that had it when it last ran
   * in this process.
   */
  owners(name: string): readonly string[];
  /** Whether a plugin has a command or group of this name or alias (one word), switched on or not. */
  has(name: string): boolean;
  /**
   * Whether the actor may run a command there, with every reason; for a group, each of its commands. Includes commands that are disabled or not visible.
   * @param name full name or alias; empty for an unknown name
   */
  explain(actor: Actor, name: string): Promise<readonly ExplainedCommand[]>;
  /** Suggestions for an unknown name: the counterpart of a command of Red, then the nearest names. */
  similar(name: string, among: readonly Pick<CommandInfo, 'name'>[]): readonly string[];
  /**
   * Sets the guilds in which unknown commands get a suggestion; all of them by default. Called by the plugin that stores the choices; the last call counts.
   * @returns a function that removes it
   */
  suggestWhere(choice: SuggestionChoice): () => void;
  /** Whether this message runs a command (known, and enabled here): such a message is not also a turn. */
  matches(message: Message): boolean;
}
export const Commands = defineToken<Commands>('cinnabar.commands');

/** A command that members have made for one guild. It is only available with a prefix, not in the slash menu. */
export interface GuildCommand {
  /** As other commands' names. */
  readonly name: string;
  readonly description: string;
  readonly cooldown?: Cooldown;
  /** @param text the text after the command's name */
  run(context: CommandContext, text: string): unknown;
}

/** The line of an alias. */
export interface AliasExpansion {
  readonly text: string;
  /** The tier of the alias's creator. It limits the alias's users, who may not know the line. */
  readonly tier: Tier;
}

/**
 * The commands and aliases that members have made, by guild. They run like all others: access rules name them, help lists them, the audit records refusals. A
 * plugin's command of the same name takes precedence. Called for messages that begin with a prefix: answer from memory.
 */
export interface GuildCommands {
  /** The same object as long as the command stays the same. */
  find(guildId: string, name: string): GuildCommand | undefined;
  list(guildId: string): readonly GuildCommand[];
  /**
   * The line of an alias: another command, without a prefix. That command decides who may use it.
   * @param rest the text after the alias: it has to be part of the result, if it is used
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
    // The router passes exactly what this command's own schemas produced.
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
  /** Whether the audit records each use; by default when its policy requires a moderator or more. Set it to `false` when it only reads. */
  readonly audited?: boolean;
  /** `args` are the arguments of `customId(...args)`. They come back from Discord: do not trust them. */
  run(interaction: ComponentInteraction, args: readonly string[]): unknown;
}

/** A registered component. */
export interface ComponentHandle {
  /** The `custom_id` for the component; at most 100 characters. */
  customId(...args: readonly string[]): string;
}

/** A command's options by name, in the order in which they are typed. Required ones come first. */
export type OptionShape = Readonly<Record<string, z.ZodType>>;
export type OptionValues<S extends OptionShape> = { readonly [K in keyof S]: z.output<S[K]> };

/** Properties that `option.*` helpers attach to a schema, for the parser, the slash builder and the help. */
export interface OptionTraits {
  /** How text or a slash value becomes the option's value; plain zod types do not need this. */
  readonly kind?: 'user' | 'member' | 'role' | 'channel' | 'attachment' | 'duration' | 'rest';
  /** For `channel`: the types that may be chosen. */
  readonly channelTypes?: readonly ChannelType[];
  /** Suggests values while the member types; at most 25 are shown. */
  readonly suggest?: Suggest;
}

/** A suggested value of an option: the shown text, and the value to insert. */
export interface Suggestion {
  readonly name: string;
  readonly value: string;
}
/** Finds suggestions for a partly typed option. Called while the member types: answer quickly. */
export type Suggest = (
  typed: string,
  where: { readonly guildId: string | null; readonly userId: string },
) => readonly Suggestion[] | Promise<readonly Suggestion[]>;

/** Traits by schema instance. Weak, so that they are freed with the schema. */
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
  /** The rest of the line, with spaces and quotes. Must be the last option. */
  rest: () => z.string().min(1).register(optionTraits, { kind: 'rest' }),
  /** A text option with suggestions while typing. */
  suggested: (suggest: Suggest) => z.string().min(1).register(optionTraits, { suggest }),
} as const;
