import type { LocalChannel } from './channel.js';

/** Whose name stands over a message: a user, or a webhook. */
export interface MessageAuthor {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
  readonly avatar: string | null;
  readonly bot: boolean;
  /** The user, when it is one. */
  readonly user: LocalUser | undefined;
}

/** An account: a person, or a bot's. What a person can do is in `people/person.ts`. */
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

  constructor(id: string, username: string, bot: boolean) {
    this.id = id;
    this.username = username;
    this.bot = bot;
  }

  get user(): LocalUser {
    return this;
  }

  /** The mention, so that a user can stand in a template string. */
  toString(): string {
    return `<@${this.id}>`;
  }
}
