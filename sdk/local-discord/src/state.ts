import {
  type APIApplicationCommand,
  type APIApplicationCommandOptionChoice,
  type APIEmbed,
  type APIMessageTopLevelComponent,
  type APIModalInteractionResponseCallbackData,
  ChannelType,
  type MessageType,
} from 'discord-api-types/v10';
import type { PermissionSet } from './rules/permission-names.js';
import { createWaiters } from './waiters.js';

/** Where the local Discord reads the time (milliseconds since 1970). Ids, rate limits, the 3-second rule and token lifetimes follow it. */
export interface Clock {
  now(): number;
}

/** The computer's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

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

/** What a person can give to an option. */
export type OptionValue = string | number | boolean | LocalUser | LocalRole | LocalChannel | UploadedFile;

/** What a person chooses from a menu. */
export type SelectValue = string | LocalUser | LocalRole | LocalChannel;

export interface SlashOptions {
  /** Which bot, when several have a command of that name. */
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
 * An account, with what people do in Discord. Everything happens at once and in order, and is refused as Discord would refuse it:
 * a `LocalDiscordError` with the code (50013 and so on) is thrown. A bot's account can be played by a test in the same way.
 * An interface, as `LocalGuild` is, because the verbs are above the state that they change (`people/account.ts`, `resources/guilds.ts`).
 */
export interface LocalUser extends MessageAuthor {
  readonly id: string;
  readonly bot: boolean;
  username: string;
  globalName: string | null;
  avatar: string | null;
  /** Accepts no DMs from bots and strangers: sending to it is 50007. */
  dmsClosed: boolean;
  /** Ids of users whom this one blocked: no DMs, no reactions. */
  readonly blocked: Set<string>;
  /** By the other end's id. */
  readonly dms: Map<string, LocalChannel>;

  readonly name: string;

  readonly user: LocalUser;

  /** The mention, so that a user can stand in a template string. */
  toString(): string;

  say(channel: LocalChannel, content: string, options?: SayOptions): LocalMessage;
  edit(message: LocalMessage, content: string): void;
  delete(message: LocalMessage): void;

  /** `'👍'`, or a custom emoji as `name:id`. */
  react(message: LocalMessage, emoji: string): void;

  /** Takes the own reaction back, or with `of` another user's (needs ManageMessages). */
  unreact(message: LocalMessage, emoji: string, of?: LocalUser): void;

  /** Takes all reactions away, or all with one emoji. */
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

  /** Fills in the modal that an interaction was answered with. Fields are named by label or custom id. */
  submit(interaction: LocalInteraction, fields: Record<string, string | readonly SelectValue[]>): LocalInteraction;

  /** What this person sees in a channel, oldest first, ephemeral messages to them included. @throws 50001 */
  read(channel: LocalChannel): LocalMessage[];
}

export type PrivilegedIntent = 'GuildMembers' | 'GuildPresences' | 'MessageContent';

/** Who owns an application together. The owner of the team is its first member. */
export interface LocalTeam {
  readonly id: string;
  readonly name: string;
  readonly members: readonly LocalUser[];
}

/** A bot: the application, its user (same id) and its token. */
export interface LocalApplication {
  readonly id: string;
  readonly name: string;
  readonly user: LocalUser;
  readonly owner: LocalUser;
  readonly team: LocalTeam | undefined;
  /** What the bot logs in with. */
  readonly token: string;
  description: string;
  /** The switches of the developer portal. All are on unless the test says otherwise. */
  readonly privilegedIntents: ReadonlySet<PrivilegedIntent>;
  /** By command id. */
  readonly globalCommands: Map<string, LocalCommand>;
  /** By guild id, then command id. */
  readonly guildCommands: Map<string, Map<string, LocalCommand>>;
  /** Times of command creations, by guild id (`''` for global ones): Discord allows 200 a day. */
  readonly commandCreations: Map<string, number[]>;
}

export interface JoinOptions {
  roles?: readonly LocalRole[];
  nick?: string;
}

export interface RoleInit {
  name?: string | undefined;
  /** None unless told. */
  permissions?: PermissionSet | undefined;
  color?: number | undefined;
  hoist?: boolean | undefined;
  mentionable?: boolean | undefined;
  /** Above all present roles unless told; @everyone is 0. */
  position?: number | undefined;
  botId?: string | undefined;
}

/** What a channel grants or denies to a role or a person. */
export interface OverwriteInit {
  for: LocalRole | LocalUser;
  allow?: PermissionSet;
  deny?: PermissionSet;
}

export type ChannelKind = 'text' | 'voice' | 'category' | 'announcement' | 'stage' | 'forum';

export interface ChannelInit {
  name: string;
  /** `'text'` unless told. */
  type?: ChannelKind | ChannelType | undefined;
  parent?: LocalChannel | undefined;
  topic?: string | null | undefined;
  nsfw?: boolean | undefined;
  position?: number | undefined;
  slowmodeSeconds?: number | undefined;
  userLimit?: number | undefined;
  overwrites?: readonly (OverwriteInit | Overwrite)[] | undefined;
  availableTags?: readonly Omit<ForumTag, 'id'>[] | undefined;
}

/** A server. What its methods do asks for no permissions: they are the hand of Discord, not of a member. */
export interface LocalGuild {
  readonly id: string;
  name: string;
  ownerId: string;
  description: string | null;
  readonly everyone: LocalRole;
  readonly roles: Map<string, LocalRole>;
  readonly members: Map<string, LocalMember>;
  /** Threads are in `threads`. */
  readonly channels: Map<string, LocalChannel>;
  readonly threads: Map<string, LocalChannel>;
  readonly emojis: Map<string, LocalEmoji>;
  /** Who is banned, and why. */
  readonly bans: Map<string, { user: LocalUser; reason: string | null }>;
  readonly createdAt: number;

  /** Makes a user a member; `roles` and `nick` may be given. */
  join(user: LocalUser, options?: JoinOptions): LocalMember;

  /** Lets a bot in, with a role of its own that carries the permissions: a moderator's, unless told otherwise. */
  invite(application: LocalApplication, options?: { permissions?: PermissionSet }): LocalMember;

  /** Removes a member. */
  remove(user: LocalUser): void;

  createRole(init: RoleInit): LocalRole;

  /** Changes a role and announces it. */
  editRole(
    role: LocalRole,
    changes: { name?: string; permissions?: PermissionSet; mentionable?: boolean; position?: number },
  ): void;
  deleteRole(role: LocalRole): void;
  giveRole(user: LocalUser, role: LocalRole): void;
  takeRole(user: LocalUser, role: LocalRole): void;
  rename(user: LocalUser, nick: string | null): void;

  /** Text unless `type` says otherwise. */
  createChannel(init: ChannelInit): LocalChannel;

  /** Sets what a channel grants and denies to a role or a person, instead of what it did before. */
  overwrite(channel: LocalChannel, init: OverwriteInit): void;

  deleteChannel(channel: LocalChannel): void;

  addEmoji(name: string, options?: { animated?: boolean }): LocalEmoji;

  /** The membership of a user; throws when there is none. */
  memberOf(user: LocalUser): LocalMember;
}

/** A role. Its guild's @everyone role has the guild's own id. */
export class LocalRole {
  readonly id: string;
  readonly guild: LocalGuild;
  name: string;
  permissions: bigint;
  position = 0;
  color = 0;
  hoist = false;
  mentionable = false;
  /** Set on the role that came with a bot. */
  botId: string | undefined;

  constructor(guild: LocalGuild, id: string, name: string, permissions: bigint) {
    this.guild = guild;
    this.id = id;
    this.name = name;
    this.permissions = permissions;
  }

  /** The mention, so that a role can stand in a template string. */
  toString(): string {
    return `<@&${this.id}>`;
  }
}

/** A user in a guild. */
export interface LocalMember {
  readonly user: LocalUser;
  readonly guild: LocalGuild;
  nick: string | null;
  /** Without @everyone. */
  readonly roles: Set<LocalRole>;
  readonly joinedAt: number;
  /** Milliseconds since 1970; null when not timed out. */
  timedOutUntil: number | null;
  deaf: boolean;
  mute: boolean;
}

/** What only a thread has. */
export interface ThreadState {
  readonly owner: LocalUser;
  readonly members: Map<string, number>;
  readonly createdAt: number;
  archived: boolean;
  archivedAt: number;
  autoArchiveMinutes: number;
  locked: boolean;
  invitable: boolean;
  appliedTags: string[];
}

/** A tag that posts in a forum may carry. */
interface ForumTag {
  readonly id: string;
  name: string;
  moderated: boolean;
  emojiName: string | null;
}

const THREADS: ReadonlySet<ChannelType> = new Set([
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.AnnouncementThread,
]);
const WITHOUT_MESSAGES: ReadonlySet<ChannelType> = new Set([
  ChannelType.GuildCategory,
  ChannelType.GuildForum,
  ChannelType.GuildMedia,
  ChannelType.GuildDirectory,
]);

/** A channel of any kind: text, voice, category, forum, announcement, thread or DM. */
export class LocalChannel {
  readonly id: string;
  readonly type: ChannelType;
  /** Missing on a DM. */
  readonly guild: LocalGuild | undefined;
  name: string;
  topic: string | null = null;
  nsfw = false;
  position = 0;
  slowmodeSeconds = 0;
  parent: LocalChannel | undefined;
  thread: ThreadState | undefined;
  lastPinAt: number | undefined;
  lastMessageId: string | undefined;
  bitrate = 64_000;
  userLimit = 0;
  deleted = false;
  availableTags: ForumTag[] = [];
  /** Both ends of a DM. */
  readonly recipients: LocalUser[] = [];
  readonly overwrites = new Map<string, Overwrite>();
  readonly messagesById = new Map<string, LocalMessage>();

  constructor(id: string, type: ChannelType, name: string, guild: LocalGuild | undefined) {
    this.id = id;
    this.type = type;
    this.name = name;
    this.guild = guild;
  }

  /** What everyone in the channel can see, oldest first. */
  get messages(): LocalMessage[] {
    return [...this.messagesById.values()].filter((message) => !message.ephemeral);
  }

  get isThread(): boolean {
    return THREADS.has(this.type);
  }

  get isDm(): boolean {
    return this.type === ChannelType.DM;
  }

  get holdsMessages(): boolean {
    return !WITHOUT_MESSAGES.has(this.type);
  }

  /** The mention, so that a channel can stand in a template string. */
  toString(): string {
    return `<#${this.id}>`;
  }
}

/** What a channel grants or denies to one role or member, over what their roles say. */
export interface Overwrite {
  readonly id: string;
  readonly kind: 'role' | 'member';
  allow: bigint;
  deny: bigint;
}

/** A custom emoji of a guild. */
export interface LocalEmoji {
  readonly id: string;
  name: string;
  readonly animated: boolean;
}

/** What a reaction shows: a Unicode emoji (`id` null) or a custom one. */
export interface EmojiRef {
  id: string | null;
  name: string;
  animated?: boolean;
}

/** The same emoji has the same key, however it was written. */
export function emojiKey(emoji: EmojiRef): string {
  return emoji.id ?? emoji.name;
}

/** One emoji under a message, with who put it there, in order. */
export interface LocalReaction {
  readonly emoji: EmojiRef;
  readonly users: Set<LocalUser>;
}

/** Whom a message pings, worked out from its content and its `allowed_mentions`. */
export interface Mentions {
  everyone: boolean;
  users: LocalUser[];
  roles: LocalRole[];
}

/** What a message points back to. */
interface MessageReference {
  readonly messageId: string;
  readonly channelId: string;
  readonly guildId: string | undefined;
}

/** Bots that mark lines for other bots do so at their ends, with characters that no client shows. */
const UNSEEN_MARK = /\u2063[\u2063\u200B]{2}$/gm;

/** A message as the server has it. It is live: edits and reactions show on it. */
export class LocalMessage {
  readonly id: string;
  readonly channel: LocalChannel;
  readonly author: MessageAuthor;
  readonly type: MessageType;
  readonly createdAt: number;
  /** The content as it was sent, with what no client shows: `content` is what people read. */
  written = '';
  embeds: APIEmbed[] = [];
  components: APIMessageTopLevelComponent[] = [];
  attachments: LocalAttachment[] = [];
  mentions: Mentions = { everyone: false, users: [], roles: [] };
  flags = 0;
  tts = false;
  pinnedAt: number | undefined;
  editedAt: number | undefined;
  deleted = false;
  /** Counts from 1; every edit adds one. */
  revision = 1;
  nonce: string | number | undefined;
  reference: MessageReference | undefined;
  webhook: LocalWebhook | undefined;
  /** Set on what a webhook said, and on answers to interactions (there it is the application). */
  webhookId: string | undefined;
  /** Set on what an application said through a webhook of its own or an interaction. */
  applicationId: string | undefined;
  interaction: LocalInteraction | undefined;
  /** The thread that was started from this message. */
  thread: LocalChannel | undefined;
  /** The only person who sees it, when it is ephemeral. */
  visibleTo: LocalUser | undefined;
  readonly reactionsByKey = new Map<string, LocalReaction>();

  constructor(id: string, channel: LocalChannel, author: MessageAuthor, type: MessageType, createdAt: number) {
    this.id = id;
    this.channel = channel;
    this.author = author;
    this.type = type;
    this.createdAt = createdAt;
  }

  /** What people read. */
  get content(): string {
    return this.written.includes('\u2063') ? this.written.replace(UNSEEN_MARK, '') : this.written;
  }

  get pinned(): boolean {
    return this.pinnedAt !== undefined;
  }

  get ephemeral(): boolean {
    return this.visibleTo !== undefined;
  }

  get reactions(): LocalReaction[] {
    return [...this.reactionsByKey.values()];
  }

  /** The message that this one answers, when it still exists. */
  get replyTo(): LocalMessage | undefined {
    return this.reference && this.channel.messagesById.get(this.reference.messageId);
  }

  /** Who reacted with that emoji (`'👍'`, or a custom emoji's name or id). */
  reactedBy(emoji: string): LocalUser[] {
    const reaction = this.reactions.find((one) => one.emoji.name === emoji || one.emoji.id === emoji);
    return reaction ? [...reaction.users] : [];
  }
}

/** A file as it came with a request. */
export interface UploadedFile {
  name: string;
  data: Uint8Array;
  contentType?: string | undefined;
  description?: string | undefined;
}

/** A file that Discord keeps; its bytes are served from `url`. */
export interface LocalAttachment {
  readonly id: string;
  readonly filename: string;
  /** In bytes. */
  readonly size: number;
  readonly data: Uint8Array;
  readonly contentType: string;
  /** Works for a day. */
  readonly url: string;
  description: string | undefined;
  readonly ephemeral: boolean;
}

/** An incoming webhook. */
export interface LocalWebhook {
  readonly id: string;
  readonly token: string;
  readonly creator: LocalUser;
  readonly application: LocalApplication | undefined;
  channel: LocalChannel;
  name: string;
  avatar: string | null;
}

/** What the person did. */
export type InteractionSource =
  | { readonly kind: 'command'; readonly name: string; readonly menu: boolean }
  | { readonly kind: 'autocomplete'; readonly name: string }
  | { readonly kind: 'component'; readonly message: LocalMessage; readonly customId: string }
  | { readonly kind: 'modal'; readonly trigger: LocalInteraction; readonly customId: string };

/** How far the application has got: nothing yet, "thinking…", or an answer. */
type InteractionState = 'waiting' | 'deferred' | 'answered';

const ACKNOWLEDGE_WITHIN_MS = 3_000;
const TOKEN_LIVES_MS = 15 * 60_000;

/** A slash command, button press, selection, modal or autocompletion, and what came of it. It is live. */
export class LocalInteraction {
  readonly id: string;
  readonly token: string;
  readonly application: LocalApplication;
  readonly user: LocalUser;
  readonly channel: LocalChannel;
  readonly createdAt: number;
  readonly source: InteractionSource;
  state: InteractionState = 'waiting';
  /** Whether the deferral asked for an ephemeral answer. */
  deferredEphemeral = false;
  /** The answer: a message of its own, or for components possibly the message that was pressed. */
  response: LocalMessage | undefined;
  /** The answer and every follow-up, oldest first, ephemeral ones included. */
  readonly messages: LocalMessage[] = [];
  /** The modal that it was answered with; pass the interaction to `user.submit()`. */
  modal: APIModalInteractionResponseCallbackData | undefined;
  /** What autocompletion offered. */
  choices: APIApplicationCommandOptionChoice[] | undefined;
  readonly #clock: Clock;
  readonly #waiters = createWaiters();

  constructor(
    id: string,
    token: string,
    clock: Clock,
    application: LocalApplication,
    user: LocalUser,
    channel: LocalChannel,
    source: InteractionSource,
  ) {
    this.id = id;
    this.token = token;
    this.#clock = clock;
    this.createdAt = clock.now();
    this.application = application;
    this.user = user;
    this.channel = channel;
    this.source = source;
  }

  /** Whether the application has said anything, a deferral included. */
  get acknowledged(): boolean {
    return this.state !== 'waiting';
  }

  /** Whether it is still "thinking…". */
  get deferred(): boolean {
    return this.state === 'deferred';
  }

  /** Whether it is too late: 3 seconds without an acknowledgement ("The application did not respond"). */
  get expired(): boolean {
    return !this.acknowledged && this.#clock.now() - this.createdAt > ACKNOWLEDGE_WITHIN_MS;
  }

  /** Whether the token still admits edits and follow-ups: 15 minutes. */
  get tokenValid(): boolean {
    return this.#clock.now() - this.createdAt <= TOKEN_LIVES_MS;
  }

  /** Moves on; called by the server. */
  advance(state: InteractionState): void {
    this.state = state;
    if (state === 'answered') this.#waiters.release();
  }

  /**
   * Resolves with this interaction when it has an answer (a deferral is none).
   * @param timeoutMs how long to wait in real time before it rejects; 1,500 unless told.
   */
  async answered(timeoutMs = 1_500): Promise<this> {
    if (this.state !== 'answered') {
      await this.#waiters.wait(
        timeoutMs,
        () => `No answer to the ${describeSource(this.source)} within ${timeoutMs} ms.`,
      );
    }
    return this;
  }
}

function describeSource(source: InteractionSource): string {
  if (source.kind === 'command' || source.kind === 'autocomplete') return `${source.kind} /${source.name}`;
  return `${source.kind} "${source.customId}"`;
}

/** An application command as Discord returns it. */
export type LocalCommand = APIApplicationCommand;

/**
 * What happened, for observers (a console, a test): in server order, published before the request that caused it is answered.
 * An ephemeral message arrives as `messageCreate` with `message.visibleTo` set; a deferred answer as `interactionDefer`, then,
 * once it has something to show, as `messageCreate`.
 */
export type LocalEvent =
  | { type: 'messageCreate'; message: LocalMessage }
  | { type: 'messageEdit'; message: LocalMessage }
  | { type: 'messageDelete'; message: LocalMessage }
  | { type: 'reactionAdd'; message: LocalMessage; user: LocalUser; emoji: EmojiRef }
  | { type: 'reactionRemove'; message: LocalMessage; user: LocalUser; emoji: EmojiRef }
  | { type: 'reactionsClear'; message: LocalMessage; emoji?: EmojiRef }
  | { type: 'typing'; channel: LocalChannel; user: LocalUser }
  | { type: 'pin' | 'unpin'; message: LocalMessage }
  | { type: 'channelCreate' | 'channelEdit' | 'channelDelete'; channel: LocalChannel }
  | { type: 'memberJoin' | 'memberLeave' | 'memberEdit'; guild: LocalGuild; user: LocalUser }
  | { type: 'interactionCreate' | 'interactionDefer' | 'interactionAnswer'; interaction: LocalInteraction }
  | { type: 'connect' | 'disconnect'; application: LocalApplication; shard: number };

export type LocalEventType = LocalEvent['type'];

/** By shape: the class of users imports what asks this. */
export function isUser(value: unknown): value is LocalUser {
  return typeof value === 'object' && value !== null && 'username' in value && 'dms' in value;
}

export function isRole(value: unknown): value is LocalRole {
  return value instanceof LocalRole;
}
