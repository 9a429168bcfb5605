import type { Locale } from 'discord-api-types/v10';
import type { LocalApplication } from './applications.js';
import type { LocalChannel } from './channels.js';
import type { LocalGuild, LocalRole } from './guilds.js';
import type { LocalInteraction } from './interactions.js';
import type { LocalMessage, MessageAuthor, UploadedFile } from './messages.js';

export interface SayOptions {
  /** The message to reply to; `ping: false` does not mention its author. */
  replyTo?: LocalMessage;
  ping?: boolean;
  files?: readonly UploadedFile[];
}

/** A value of a slash command's option. */
export type OptionValue = string | number | boolean | LocalUser | LocalRole | LocalChannel | UploadedFile;

/** A choice in a menu. */
export type SelectValue = string | LocalUser | LocalRole | LocalChannel;

export interface SlashOptions {
  /** The bot, when several have a command of that name. */
  application?: LocalApplication;
}

export interface StartThreadOptions {
  private?: boolean | undefined;
  /** The first message; a forum post must have one. */
  content?: string | undefined;
  appliedTags?: readonly string[] | undefined;
  autoArchiveMinutes?: number | undefined;
  invitable?: boolean | undefined;
  slowmodeSeconds?: number | undefined;
}

/**
 * An account with its actions in Discord. Everything happens at once and in order, with Discord's checks:
 * a `LocalDiscordError` with the code (50013 and so on) is thrown. A test can also act as a bot's account.
 * An interface, like `LocalGuild`, because the methods are in a layer above the state (`people/account.ts`, `resources/guilds.ts`).
 */
export interface LocalUser extends MessageAuthor {
  readonly id: string;
  readonly bot: boolean;
  username: string;
  globalName: string | null;
  avatar: string | null;
  /** The language of the user's Discord client; interactions contain it. */
  locale: Locale;
  /** Does not accept DMs from bots and strangers: sending to it fails with 50007. */
  dmsClosed: boolean;
  /** Ids of users whom this one blocked: no DMs, no reactions. */
  readonly blocked: Set<string>;
  /** DMs by the other participant's id. */
  readonly dms: Map<string, LocalChannel>;

  readonly name: string;

  readonly user: LocalUser;

  /** The mention, so that a user can be used in a template string. */
  toString(): string;

  say(channel: LocalChannel, content: string, options?: SayOptions): LocalMessage;
  edit(message: LocalMessage, content: string): void;
  delete(message: LocalMessage): void;

  /** `'👍'`, or a custom emoji as `name:id`. */
  react(message: LocalMessage, emoji: string): void;

  /** Removes the user's own reaction, or with `of` another user's (needs ManageMessages). */
  unreact(message: LocalMessage, emoji: string, of?: LocalUser): void;

  /** Removes all reactions, or all with one emoji. */
  clearReactions(message: LocalMessage, emoji?: string): void;
  pin(message: LocalMessage): void;
  unpin(message: LocalMessage): void;
  typing(channel: LocalChannel): void;

  /** The DM with a bot or another person. */
  openDm(other: LocalUser | LocalApplication): LocalChannel;

  /** Starts a thread in a channel, from a message, or as a forum post (with `content`). */
  startThread(where: LocalChannel | LocalMessage, name: string, options?: StartThreadOptions): LocalChannel;

  /**
   * Runs a slash command: `slash(general, 'roll', { sides: 20 })`, with subcommands `slash(general, 'party add', …)`.
   * Users, roles, channels and files are given as such.
   */
  slash(
    channel: LocalChannel,
    command: string,
    options?: Record<string, OptionValue>,
    more?: SlashOptions,
  ): LocalInteraction;

  /** Asks for suggestions while typing the option `focused`; they appear in `interaction.choices`. */
  autocomplete(
    channel: LocalChannel,
    command: string,
    focused: string,
    typed: string,
    options?: Record<string, OptionValue>,
  ): LocalInteraction;

  /** Runs a command from the menu of a message or a person. `channel` is where the person's menu was opened. */
  contextMenu(command: string, target: LocalMessage): LocalInteraction;
  contextMenu(command: string, target: LocalUser, channel: LocalChannel): LocalInteraction;

  /** Presses a button, named by its label or custom id. */
  click(message: LocalMessage, button: string): LocalInteraction;

  /** Chooses from a select menu, named by its placeholder or custom id; the first one when no name is given. Values are option values or labels, users, roles or channels. */
  select(message: LocalMessage, menu: string | undefined, values: readonly SelectValue[]): LocalInteraction;

  /** Submits the modal that an interaction was answered with. Fields are named by label or custom id. */
  submit(interaction: LocalInteraction, fields: Record<string, string | readonly SelectValue[]>): LocalInteraction;

  /**
   * Grants (or with `deny` refuses) consent on the OAuth2 page at an address: `https://discord.com/oauth2/authorize?client_id=…`.
   * @returns the address to which the browser is redirected
   */
  authorize(address: string, options?: { deny?: boolean }): string;

  /** Bans a user, member or not, as a moderator in Discord's client. @throws 50013 */
  ban(guild: LocalGuild, user: LocalUser, options?: { reason?: string; deleteSeconds?: number }): void;
  unban(guild: LocalGuild, user: LocalUser, reason?: string): void;
  kick(guild: LocalGuild, user: LocalUser, reason?: string): void;
  /** @param until in milliseconds since 1970; null ends the time-out */
  timeout(guild: LocalGuild, user: LocalUser, until: number | null, reason?: string): void;

  /** The messages that this user sees in a channel, oldest first, including their ephemeral ones. @throws 50001 */
  read(channel: LocalChannel): LocalMessage[];
}

/** Checks the properties instead of the class, because the module of the class imports a module that uses this function. */
export function isUser(value: unknown): value is LocalUser {
  return typeof value === 'object' && value !== null && 'username' in value && 'dms' in value;
}
