import type { PermissionsString } from 'discord.js';
import { t } from './text/language.js';
import { defineToken } from './token.js';

/** From least to most trusted. Each tier includes those before it. */
export const TIERS = ['everyone', 'mod', 'admin', 'guildOwner', 'botOwner'] as const;
export type Tier = (typeof TIERS)[number];

/** The more trusted of two tiers. */
export const stricterTier = (one: Tier, other: Tier): Tier =>
  TIERS.indexOf(one) >= TIERS.indexOf(other) ? one : other;

/** The members who may use a command, component or tool, and the places. Omitted properties do not restrict. */
export interface AccessPolicy {
  /** The least tier that may use it; `everyone` by default. */
  readonly tier?: Tier;
  /** The lowest tier in a direct message, where the tiers of a server do not apply: by default `tier`, which only the bot's owner has there. */
  readonly dmTier?: Tier;
  /**
   * The lowest tier according to a setting, in addition to `tier`; `nobody` refuses everyone. Called for each decision, with the place where it takes effect,
   * so that `access explain` and `diagnose` include it; they cannot see a check inside `run`.
   * @example access: { where: 'guild', tierFrom: async ({ guildId }) => (await settings.guild(guildId).get()).creators }
   */
  readonly tierFrom?: (actor: Actor) => Tier | 'nobody' | Promise<Tier | 'nobody'>;
  /** Discord permissions that the member must have in the channel. */
  readonly member?: readonly PermissionsString[];
  /** Discord permissions that the bot must have in the channel. */
  readonly bot?: readonly PermissionsString[];
  /** `anywhere` by default. */
  readonly where?: 'guild' | 'dm' | 'anywhere';
}

/** The person on whose behalf something is done, and the place; also when a model or an external agent makes the request. */
export interface Actor {
  readonly userId: string;
  /** `null` in a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
  /** The id of the `Identity` under which an agent acts for the person: it limits what they may do, and is resolved again each time. */
  readonly identity?: string;
  /** Their tier counts as at most this one: for a command given by another member's alias. */
  readonly atMost?: Tier;
}

/** The `channelId` of an actor who is in no channel, as on a web page: permissions are those of the guild, and no rule about a channel applies. */
export const NO_CHANNEL = '0';

/** The place where something takes effect. Without a channel: the guild as a whole. */
export interface Place {
  /** `null`: a direct message. */
  readonly guildId: string | null;
  readonly channelId?: string;
}

/** The result of one rule. */
export interface DecisionReason {
  /** A stable name, such as `plugin-enabled`, `tier`, `member-permissions`. */
  readonly rule: string;
  readonly allowed: boolean;
  /** A clause for people: "you need to be at least admin here; you are everyone". */
  readonly text: string;
  /** For a refusal: how to remove it, in Markdown. Commands are in backticks, without a prefix. */
  readonly remedy?: string;
}

/** The answer of the access rules to a request, with its reasons. */
export interface Decision {
  readonly allowed: boolean;
  /** Every rule that was checked, in order; the denying ones explain a refusal. */
  readonly reasons: readonly DecisionReason[];
  /** The bot ignores the actor or the place: such a refusal must get no public answer. */
  readonly ignored?: boolean;
}

/** The target of a request. */
export interface AccessRequest {
  readonly kind: 'command' | 'component' | 'tool';
  /** Full name: `party`, `plugin reload`, `add_party_character`. */
  readonly name: string;
  /** The plugin that owns it. */
  readonly plugin: string;
  readonly policy: AccessPolicy;
  /**
   * The place where it takes effect, when that is not the actor's place: then everything is decided for that place, and only places within the actor's reach
   * exist. These are: their own guild; from a direct message every guild that they are in; for an identity its grants.
   */
  readonly at?: Place;
}

/** The only authorization path. */
export interface Access {
  decide(actor: Actor, request: AccessRequest): Promise<Decision>;
  /**
   * Whether access rules about everything make the bot ignore the actor or the place: blocked members, ignored channels, servers that the bot's owner does not
   * serve. Listeners need not call it: the host passes them no messages and reactions of ignored members. Synchronous when it is known.
   */
  ignores(actor: Actor): boolean | Promise<boolean>;
  tierOf(actor: Actor): Promise<Tier>;
  /**
   * Ids of the bot's owners: the configured ones, otherwise the application's owner or team, once Discord has returned them. Empty while Discord does not
   * answer.
   */
  owners(): Promise<readonly string[]>;
  /**
   * Whether the actor can see what is said in a place now, and has these permissions there: for code that shows people others' messages outside of a tool with
   * a `place`. Roles and the membership of the guild and of private threads are requested from Discord, unless it sends changes, and cached for a few seconds.
   * Places beyond the actor's reach (see `AccessSubject.at`) are always refused.
   * @throws the error of discord.js while Discord cannot be reached: then nothing may be shown
   */
  mayEnter(actor: Actor, at: Place, permissions?: readonly PermissionsString[]): Promise<boolean>;
}

export const Access = defineToken<Access>('cinnabar.access');

/**
 * The target of an access rule. Parts of a command follow the rules of the command; commands and tools those of their plugin. Rules about `everything` decide
 * whether the bot ignores a member or place.
 */
export const RULE_TARGETS = ['everything', 'plugin', 'command', 'tool'] as const;
/**
 * The subject of an access rule, the most specific kind first: of several rules that apply, the first kind in this order decides. `guild` (one server) and
 * `guilds` (every server, but no direct message) are for the rules of the bot's owner.
 */
export const RULE_SUBJECTS = ['user', 'role', 'channel', 'category', 'guild', 'guilds', 'everyone'] as const;

/** The target of rules about everything. */
export const EVERYTHING = { kind: 'everything', name: 'everything' } as const;

/** Allows or denies something to some of a guild's members, or in some of its channels; for rules of the bot's owner also in other guilds, or in all. */
export interface AccessRule {
  readonly effect: 'allow' | 'deny';
  readonly target: {
    readonly kind: (typeof RULE_TARGETS)[number];
    /** A plugin's id, a command's full name (`plugin reload`) or a tool's name; for everything, `everything`. */
    readonly name: string;
  };
  readonly subject: {
    readonly kind: (typeof RULE_SUBJECTS)[number];
    /** The user's, role's, channel's, category's or server's id; `undefined` for every server and for everyone. */
    readonly id?: string | undefined;
  };
}

const SUBJECT_WORDS: Readonly<Record<AccessRule['subject']['kind'], (id: string) => string>> = {
  user: (id) => t('for {member}', { member: `<@${id}>` }),
  role: (id) => t('for the role {role}', { role: `<@&${id}>` }),
  channel: (id) => t('in {channel}', { channel: `<#${id}>` }),
  category: (id) => t('in the category {category}', { category: `<#${id}>` }),
  guild: (id) => t('in the server {id}', { id }),
  guilds: () => t('in every server'),
  everyone: () => t('for everyone'),
};

const TARGET_WORDS: Readonly<Record<AccessRule['target']['kind'], (name: string) => string>> = {
  everything: () => t('everything'),
  plugin: (name) => t('the plugin `{name}`', { name }),
  command: (name) => t('the command `{name}`', { name }),
  tool: (name) => t('the tool `{name}`', { name }),
};

/** The target of a rule, as a clause: the command `party add`. */
export function textOfRuleTarget({ kind, name }: AccessRule['target']): string {
  return TARGET_WORDS[kind](inline(name));
}

/** Names come from files, too: none may end the inline code that contains it. */
const inline = (name: string) => name.replaceAll('`', 'ˋ');

/** The subject of a rule, as a clause with mentions: `for the role <@&…>`, `in <#…>`. */
export function textOfRuleSubject({ kind, id = '' }: AccessRule['subject']): string {
  return SUBJECT_WORDS[kind](id);
}

/**
 * The access rules of the guilds, and those of the bot's owner (`null`), which apply in every guild and override its own. A `deny` refuses. An `allow` admits a
 * member whose tier is too low for a command or tool that requires a moderator or an admin, but it replaces neither Discord permissions nor ownership. An
 * `allow` of everything only overrides denials of everything.
 */
export interface AccessRules {
  list(guildId: string | null): Promise<readonly AccessRule[]>;
  /**
   * Adds a rule, in place of an earlier one for the same target and subject.
   * @throws CINNABAR_SETTING_INVALID when there are too many rules, or a name or id is invalid
   */
  set(guildId: string | null, rule: AccessRule): Promise<void>;
  /** Replaces all rules in one step. @throws CINNABAR_SETTING_INVALID: then nothing has changed */
  replace(guildId: string | null, rules: readonly AccessRule[]): Promise<void>;
  /**
   * Replaces all rules by the result of `change`, atomically.
   * @throws CINNABAR_SETTING_INVALID: then nothing has changed
   */
  update(guildId: string | null, change: (rules: readonly AccessRule[]) => readonly AccessRule[]): Promise<void>;
  /** Removes the rules for which `matches` is true. @returns the removed ones */
  clear(guildId: string | null, matches: (rule: AccessRule) => boolean): Promise<readonly AccessRule[]>;
}
export const AccessRules = defineToken<AccessRules>('cinnabar.access-rules');

/** The roles whose members are moderators or admins of a guild for the bot, in addition to members with Discord's permissions. */
export interface TierRoles {
  list(guildId: string, tier: 'mod' | 'admin'): Promise<readonly string[]>;
  /** @returns whether it was not one before. @throws CINNABAR_SETTING_INVALID when the guild has too many; UserError for the role of everyone */
  add(guildId: string, tier: 'mod' | 'admin', roleId: string): Promise<boolean>;
  /** @returns whether it was one before */
  remove(guildId: string, tier: 'mod' | 'admin', roleId: string): Promise<boolean>;
}
export const TierRoles = defineToken<TierRoles>('cinnabar.tier-roles');
