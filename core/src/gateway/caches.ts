import {
  type Client,
  type ClientOptions,
  Collection,
  type Message,
  MessageManager,
  Options,
  SnowflakeUtil,
} from 'discord.js';

// The caches of discord.js, with their lifetimes. By default it limits messages only.

/** Messages older than this are removed from the cache, also in channels without new ones. */
const MESSAGE_LIFETIME_S = 3_600;
const MESSAGE_SWEEP_S = 600;
/** Limit for each guild; the members seen first are removed first. A member who sends a message is cached again. */
const MEMBERS_PER_GUILD = 5_000;
const USERS = 20_000;
const USERS_PER_REACTION = 50;

/** The bot itself is never removed. */
export function cacheOptions(): Required<Pick<ClientOptions, 'makeCache' | 'sweepers'>> {
  const limited = Options.cacheWithLimits({
    ...Options.DefaultMakeCacheSettings,
    GuildMemberManager: { maxSize: MEMBERS_PER_GUILD, keepOverLimit: ({ id, client }) => id === client.user.id },
    UserManager: { maxSize: USERS, keepOverLimit: ({ id, client }) => id === client.user.id },
    ReactionUserManager: USERS_PER_REACTION,
  });
  return {
    makeCache: (managerType, holds, manager) =>
      managerType === MessageManager ? new MessageCache() : limited(managerType, holds, manager),
    sweepers: {
      // Archived threads are removed after four hours.
      ...Options.DefaultSweeperSettings,
      messages: { interval: MESSAGE_SWEEP_S, lifetime: MESSAGE_LIFETIME_S },
    },
  };
}

/** At least this many of a channel's newest messages are cached, and at most twice as many. */
const GENERATION = 64;

type Compare = (message: Message, other: Message, id: string, otherId: string) => number;

/**
 * The newest messages of a channel, in two generations: when the younger is full, the older is dropped as a whole.
 *
 * The limited collection of discord.js deletes the oldest entry of one `Map` for each message that is added. A `Map` with so many deletions is copied into a
 * new table again and again, and each old table refers to the next. Once the garbage collector has moved one of them to the old generation, all later messages
 * survive until the next full collection, which costs a fifth of the processor time of a message.
 */
class MessageCache extends Collection<string, Message> {
  #younger: Map<string, Message> | undefined;
  #older: Map<string, Message> | undefined;

  /** Collections made by `filter`, `map` and the like hold all results. */
  static override get [Symbol.species]() {
    return Collection;
  }

  override get size(): number {
    return (this.#younger?.size ?? 0) + (this.#older?.size ?? 0);
  }

  override get(id: string): Message | undefined {
    return this.#younger?.get(id) ?? this.#older?.get(id);
  }

  override has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  override hasAll(...ids: string[]): boolean {
    return ids.every((id) => this.has(id));
  }

  override hasAny(...ids: string[]): boolean {
    return ids.some((id) => this.has(id));
  }

  override set(id: string, message: Message): this {
    if (this.#older?.has(id)) {
      this.#older.set(id, message);
      return this;
    }
    this.#younger ??= new Map();
    if (this.#younger.size >= GENERATION && !this.#younger.has(id)) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(id, message);
    return this;
  }

  override delete(id: string): boolean {
    return this.#younger?.delete(id) === true || this.#older?.delete(id) === true;
  }

  override clear(): void {
    this.#younger = undefined;
    this.#older = undefined;
  }

  override sort(compare: Compare = () => 0): this {
    const sorted = [...this.entries()].sort(([id, message], [otherId, other]) => compare(message, other, id, otherId));
    this.clear();
    for (const [id, message] of sorted) this.set(id, message);
    return this;
  }

  /** The oldest first. */
  override *entries(): MapIterator<[string, Message]> {
    if (this.#older !== undefined) yield* this.#older.entries();
    if (this.#younger !== undefined) yield* this.#younger.entries();
  }

  override *keys(): MapIterator<string> {
    for (const [id] of this.entries()) yield id;
  }

  override *values(): MapIterator<Message> {
    for (const [, message] of this.entries()) yield message;
  }

  override [Symbol.iterator](): MapIterator<[string, Message]> {
    return this.entries();
  }

  override forEach(
    visit: (message: Message, id: string, cache: Map<string, Message>) => void,
    thisArg?: unknown,
  ): void {
    for (const [id, message] of this.entries()) visit.call(thisArg, message, id, this);
  }
}

const FEW_DIRECT_MESSAGES = 1_000;
const DIRECT_SWEEP_MS = 3_600_000;
const IDLE_MS = 24 * 3_600_000;

/**
 * Removes direct message channels without messages for a day from the cache, when there are many: discord.js keeps all of them. They are cached again with the
 * next message, as they do after a restart. Follows the computer's clock, like the sweepers of discord.js.
 * @returns a function that stops it
 */
export function sweepDirectMessages(client: Client): () => void {
  const timer = setInterval(() => dropIdleDirectMessages(client, Date.now()), DIRECT_SWEEP_MS).unref();
  return () => clearInterval(timer);
}

/** @param most up to this number of channels, none is removed */
export function dropIdleDirectMessages(client: Client, now: number, most = FEW_DIRECT_MESSAGES): void {
  const direct = client.channels.cache.filter((channel) => channel.isDMBased());
  if (direct.size <= most) return;
  for (const channel of direct.values()) {
    const last = SnowflakeUtil.timestampFrom(channel.lastMessageId ?? channel.id);
    if (now - last > IDLE_MS) client.channels.cache.delete(channel.id);
  }
}
