import { ChannelType } from 'discord-api-types/v10';
import type { LocalGuild } from './guilds.js';
import type { LocalMessage } from './messages.js';
import type { LocalUser } from './users.js';

/** The fields that only threads have. */
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

/** A tag for posts in a forum. */
export interface ForumTag {
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
  /** The participants of a DM. */
  readonly recipients: LocalUser[] = [];
  readonly overwrites = new Map<string, Overwrite>();
  readonly messagesById = new Map<string, LocalMessage>();

  constructor(id: string, type: ChannelType, name: string, guild: LocalGuild | undefined) {
    this.id = id;
    this.type = type;
    this.name = name;
    this.guild = guild;
  }

  /** The messages that everyone in the channel can see, oldest first. */
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

  /** The mention, so that a channel can be used in a template string. */
  toString(): string {
    return `<#${this.id}>`;
  }
}

/** The permissions that a channel grants or denies to a role or member, in addition to those of the roles. */
export interface Overwrite {
  readonly id: string;
  readonly kind: 'role' | 'member';
  allow: bigint;
  deny: bigint;
}
