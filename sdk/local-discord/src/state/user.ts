import { deleteOwnMessage } from '../actions/delete-message.js';
import { openDm } from '../actions/dms.js';
import { editOwnMessage } from '../actions/edit-message.js';
import { messageHistory } from '../actions/history.js';
import { pinMessage, unpinMessage } from '../actions/pins.js';
import { addReaction, clearReactions, removeReaction } from '../actions/reactions.js';
import { sendMessage } from '../actions/send-message.js';
import { type StartThreadOptions, startThread } from '../actions/start-thread.js';
import { startTyping } from '../actions/typing.js';
import { autocomplete } from '../people/autocomplete.js';
import { clickButton, type SelectValue, selectValues } from '../people/components.js';
import { useContextMenu } from '../people/context-menu.js';
import { submitModal } from '../people/modal.js';
import { type SlashOptions, useSlashCommand } from '../people/slash.js';
import type { OptionValue } from '../people/slash-options.js';
import { parseEmoji } from '../rules/emoji.js';
import type { LocalApplication } from './application.js';
import type { UploadedFile } from './attachment.js';
import type { LocalChannel } from './channel.js';
import type { LocalInteraction } from './interaction.js';
import type { LocalMessage } from './message.js';
import type { World } from './world.js';

/** Whose name stands over a message: a user, or a webhook. */
export interface MessageAuthor {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
  /** What people see: the display name, or else the username. */
  readonly name: string;
  readonly avatar: string | null;
  readonly bot: boolean;
  /** The user, when it is one. */
  readonly user: LocalUser | undefined;
}

export interface SayOptions {
  /** The message that this one answers; `ping: false` does not mention its author. */
  replyTo?: LocalMessage;
  ping?: boolean;
  files?: readonly UploadedFile[];
}

/**
 * An account, with what people do in Discord. Everything happens at once and in order, and is refused as Discord would refuse it:
 * a `LocalDiscordError` with the code (50013 and so on) is thrown. A bot's account can be played by a test in the same way.
 */
export class LocalUser implements MessageAuthor {
  readonly id: string;
  readonly bot: boolean;
  username: string;
  globalName: string | null = null;
  avatar: string | null = null;
  /** Accepts no DMs from bots and strangers: sending to it is 50007. */
  dmsClosed = false;
  /** Ids of users whom this one blocked: no DMs, no reactions. */
  readonly blocked = new Set<string>();
  /** By the other end's id. */
  readonly dms = new Map<string, LocalChannel>();
  readonly #world: World;

  constructor(world: World, username: string, bot: boolean) {
    this.#world = world;
    this.id = world.nextId();
    this.username = username;
    this.bot = bot;
  }

  get name(): string {
    return this.globalName ?? this.username;
  }

  get user(): LocalUser {
    return this;
  }

  /** The mention, so that a user can stand in a template string. */
  toString(): string {
    return `<@${this.id}>`;
  }

  say(channel: LocalChannel, content: string, options: SayOptions = {}): LocalMessage {
    return sendMessage(this.#world, this, channel, {
      content,
      files: options.files,
      ...(options.replyTo ? { replyTo: { messageId: options.replyTo.id, failIfMissing: true } } : {}),
      ...(options.ping === false
        ? { allowedMentions: { parse: ['users', 'roles', 'everyone'], replied_user: false } }
        : {}),
    });
  }

  edit(message: LocalMessage, content: string): void {
    editOwnMessage(this.#world, this, message, { content });
  }

  delete(message: LocalMessage): void {
    deleteOwnMessage(this.#world, this, message);
  }

  /** `'👍'`, or a custom emoji as `name:id`. */
  react(message: LocalMessage, emoji: string): void {
    addReaction(this.#world, this, message, parseEmoji(this.#world, emoji));
  }

  /** Takes the own reaction back, or with `of` somebody else's (needs ManageMessages). */
  unreact(message: LocalMessage, emoji: string, of: LocalUser = this): void {
    removeReaction(this.#world, this, message, parseEmoji(this.#world, emoji), of);
  }

  /** Takes all reactions away, or all with one emoji. */
  clearReactions(message: LocalMessage, emoji?: string): void {
    clearReactions(this.#world, this, message, emoji === undefined ? undefined : parseEmoji(this.#world, emoji));
  }

  pin(message: LocalMessage): void {
    pinMessage(this.#world, this, message);
  }

  unpin(message: LocalMessage): void {
    unpinMessage(this.#world, this, message);
  }

  typing(channel: LocalChannel): void {
    startTyping(this.#world, this, channel);
  }

  /** The DM with a bot or another person. */
  openDm(other: LocalUser | LocalApplication): LocalChannel {
    return openDm(this.#world, this, 'token' in other ? other.user : other);
  }

  /** Starts a thread in a channel, from a message, or as a forum post (with `content`). */
  startThread(where: LocalChannel | LocalMessage, name: string, options: StartThreadOptions = {}): LocalChannel {
    return startThread(this.#world, this, where, name, options);
  }

  /**
   * Runs a slash command: `slash(general, 'roll', { sides: 20 })`, with subcommands `slash(general, 'party add', …)`.
   * Users, roles, channels and files are given as such.
   */
  slash(
    channel: LocalChannel,
    command: string,
    options: Record<string, OptionValue> = {},
    more: SlashOptions = {},
  ): LocalInteraction {
    return useSlashCommand(this.#world, this, channel, command, options, more);
  }

  /** Asks for suggestions while typing the option `focused`; they appear in `interaction.choices`. */
  autocomplete(
    channel: LocalChannel,
    command: string,
    focused: string,
    typed: string,
    options: Record<string, OptionValue> = {},
  ): LocalInteraction {
    return autocomplete(this.#world, this, channel, command, focused, typed, options);
  }

  /** Runs a command from the menu of a message or a person. `channel` is where the person's menu was opened. */
  contextMenu(command: string, target: LocalMessage): LocalInteraction;
  contextMenu(command: string, target: LocalUser, channel: LocalChannel): LocalInteraction;
  contextMenu(command: string, target: LocalMessage | LocalUser, channel?: LocalChannel): LocalInteraction {
    return useContextMenu(this.#world, this, command, target, channel);
  }

  /** Presses a button, named by its label or custom id. */
  click(message: LocalMessage, button: string): LocalInteraction {
    return clickButton(this.#world, this, message, button);
  }

  /** Chooses from a select menu, named by its placeholder or custom id; the first one when no name is given. Values are option values or labels, users, roles or channels. */
  select(message: LocalMessage, menu: string | undefined, values: readonly SelectValue[]): LocalInteraction {
    return selectValues(this.#world, this, message, menu, values);
  }

  /** Fills in the modal that an interaction was answered with. Fields are named by label or custom id. */
  submit(interaction: LocalInteraction, fields: Record<string, string | readonly SelectValue[]>): LocalInteraction {
    return submitModal(this.#world, this, interaction, fields);
  }

  /** What this person sees in a channel, oldest first, ephemeral messages to them included. @throws 50001 */
  read(channel: LocalChannel): LocalMessage[] {
    const visible = messageHistory(this.#world, this, channel, { limit: channel.messagesById.size });
    const toMe = [...channel.messagesById.values()].filter((message) => message.visibleTo === this);
    return [...visible, ...toMe].sort((a, b) => a.createdAt - b.createdAt || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }
}
