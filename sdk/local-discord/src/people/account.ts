import { Locale } from 'discord-api-types/v10';
import { Guild } from '../resources/guilds.js';
import { addMember, banUser, editMember, kickMember, unbanUser } from '../resources/members.js';
import { deleteOwnMessage, editOwnMessage } from '../resources/message-changes.js';
import { messageHistory, startTyping } from '../resources/message-routes.js';
import { sendMessage } from '../resources/messages.js';
import { authorize } from '../resources/oauth2.js';
import { pinMessage, unpinMessage } from '../resources/pins.js';
import { addReaction, clearReactions, removeReaction } from '../resources/reactions.js';
import { startThread } from '../resources/thread-routes.js';
import { openDm } from '../resources/users.js';
import { parseEmoji } from '../rules/messages.js';
import type { LocalApplication, LocalTeam, PrivilegedIntent } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild } from '../state/guilds.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalMessage } from '../state/messages.js';
import type {
  LocalUser,
  OptionValue,
  SayOptions,
  SelectValue,
  SlashOptions,
  StartThreadOptions,
} from '../state/users.js';
import type { World } from '../world.js';
import { autocomplete, useContextMenu, useSlashCommand } from './commands.js';
import { clickButton, selectValues } from './components.js';
import { submitModal } from './modal.js';

/** Each method calls a function of a resource. */
class Account implements LocalUser {
  readonly id: string;
  readonly bot: boolean;
  username: string;
  globalName: string | null = null;
  avatar: string | null = null;
  locale: Locale = Locale.EnglishUS;
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

  authorize(address: string, options: { deny?: boolean } = {}): string {
    return authorize(this.#world, this, address, options.deny !== true);
  }

  ban(guild: LocalGuild, user: LocalUser, options: { reason?: string; deleteSeconds?: number } = {}): void {
    banUser(this.#world, this, guild, user, options.reason ?? null, options.deleteSeconds ?? 0);
  }

  unban(guild: LocalGuild, user: LocalUser, reason?: string): void {
    unbanUser(this.#world, this, guild, user.id, reason);
  }

  kick(guild: LocalGuild, user: LocalUser, reason?: string): void {
    kickMember(this.#world, this, guild.memberOf(user), reason);
  }

  timeout(guild: LocalGuild, user: LocalUser, until: number | null, reason?: string): void {
    editMember(this.#world, this, guild.memberOf(user), { timedOutUntil: until }, reason);
  }

  read(channel: LocalChannel): LocalMessage[] {
    const visible = messageHistory(this.#world, this, channel, { limit: channel.messagesById.size });
    const toMe = [...channel.messagesById.values()].filter((message) => message.visibleTo === this);
    return [...visible, ...toMe].sort((a, b) => a.createdAt - b.createdAt || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }
}

export interface UserInit {
  name: string;
  /** The display name. */
  displayName?: string;
}

export interface ApplicationInit {
  name: string;
  owner: LocalUser;
  /** The team that owns the application; its first member counts as the owner. */
  team?: { name: string; members: readonly LocalUser[] };
  description?: string;
  /** The privileged intents that the developer portal allows; default: all. */
  privilegedIntents?: readonly PrivilegedIntent[];
}

/** Creates an account, which is in no guild yet. */
export function createUser(world: World, init: UserInit): LocalUser {
  const user = new Account(world, init.name, false);
  user.globalName = init.displayName ?? null;
  world.users.set(user.id, user);
  return user;
}

/** Creates a bot with its application; it is in no guild yet. */
export function createApplication(world: World, init: ApplicationInit): LocalApplication {
  const user = new Account(world, init.name, true);
  const { id } = user;
  const team: LocalTeam | undefined = init.team && { id: world.nextId(), ...init.team };
  const application: LocalApplication = {
    id,
    name: init.name,
    user,
    owner: init.owner,
    team,
    token: `${Buffer.from(id).toString('base64url')}.local0.${Buffer.from(`token of ${init.name}`).toString('base64url')}`,
    clientSecret: `secret of ${init.name}`,
    redirectUris: new Set(),
    description: init.description ?? '',
    privilegedIntents: new Set(init.privilegedIntents ?? ['GuildMembers', 'GuildPresences', 'MessageContent']),
    globalCommands: new Map(),
    guildCommands: new Map(),
    commandCreations: new Map(),
    presence: undefined,
  };
  world.users.set(id, user);
  world.applications.set(id, application);
  return application;
}

/** Creates a guild whose only member is its owner, without channels. */
export function createGuild(world: World, init: { name: string; owner: LocalUser }): LocalGuild {
  const guild = new Guild(world, init.name, init.owner);
  world.guilds.set(guild.id, guild);
  addMember(world, guild, init.owner);
  return guild;
}
