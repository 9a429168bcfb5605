import { deleteOwnMessage } from '../actions/delete-message.js';
import { openDm } from '../actions/dms.js';
import { editOwnMessage } from '../actions/edit-message.js';
import { messageHistory } from '../actions/history.js';
import { pinMessage, unpinMessage } from '../actions/pins.js';
import { addReaction, clearReactions, removeReaction } from '../actions/reactions.js';
import { sendMessage } from '../actions/send-message.js';
import { startThread } from '../actions/start-thread.js';
import { startTyping } from '../actions/typing.js';
import { parseEmoji } from '../rules/emoji.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalInteraction } from '../state/interaction.js';
import type { LocalMessage } from '../state/message.js';
import type {
  LocalUser,
  OptionValue,
  SayOptions,
  SelectValue,
  SlashOptions,
  StartThreadOptions,
} from '../state/user.js';
import type { World } from '../state/world.js';
import { autocomplete } from './autocomplete.js';
import { clickButton, selectValues } from './components.js';
import { useContextMenu } from './context-menu.js';
import { submitModal } from './modal.js';
import { useSlashCommand } from './slash.js';

/** What people do, in terms of the actions. */
export class Account implements LocalUser {
  readonly id: string;
  readonly bot: boolean;
  username: string;
  globalName: string | null = null;
  avatar: string | null = null;
  dmsClosed = false;
  readonly blocked = new Set<string>();
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

  react(message: LocalMessage, emoji: string): void {
    addReaction(this.#world, this, message, parseEmoji(this.#world, emoji));
  }

  unreact(message: LocalMessage, emoji: string, of: LocalUser = this): void {
    removeReaction(this.#world, this, message, parseEmoji(this.#world, emoji), of);
  }

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

  openDm(other: LocalUser | LocalApplication): LocalChannel {
    return openDm(this.#world, this, 'token' in other ? other.user : other);
  }

  startThread(where: LocalChannel | LocalMessage, name: string, options: StartThreadOptions = {}): LocalChannel {
    return startThread(this.#world, this, where, name, options);
  }

  slash(
    channel: LocalChannel,
    command: string,
    options: Record<string, OptionValue> = {},
    more: SlashOptions = {},
  ): LocalInteraction {
    return useSlashCommand(this.#world, this, channel, command, options, more);
  }

  autocomplete(
    channel: LocalChannel,
    command: string,
    focused: string,
    typed: string,
    options: Record<string, OptionValue> = {},
  ): LocalInteraction {
    return autocomplete(this.#world, this, channel, command, focused, typed, options);
  }

  contextMenu(command: string, target: LocalMessage): LocalInteraction;
  contextMenu(command: string, target: LocalUser, channel: LocalChannel): LocalInteraction;
  contextMenu(command: string, target: LocalMessage | LocalUser, channel?: LocalChannel): LocalInteraction {
    return useContextMenu(this.#world, this, command, target, channel);
  }

  click(message: LocalMessage, button: string): LocalInteraction {
    return clickButton(this.#world, this, message, button);
  }

  select(message: LocalMessage, menu: string | undefined, values: readonly SelectValue[]): LocalInteraction {
    return selectValues(this.#world, this, message, menu, values);
  }

  submit(interaction: LocalInteraction, fields: Record<string, string | readonly SelectValue[]>): LocalInteraction {
    return submitModal(this.#world, this, interaction, fields);
  }

  read(channel: LocalChannel): LocalMessage[] {
    const visible = messageHistory(this.#world, this, channel, { limit: channel.messagesById.size });
    const toMe = [...channel.messagesById.values()].filter((message) => message.visibleTo === this);
    return [...visible, ...toMe].sort((a, b) => a.createdAt - b.createdAt || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }
}
