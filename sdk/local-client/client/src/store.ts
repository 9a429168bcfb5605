import type { SeenChannel, SeenGuild, SeenPerson, Snapshot, UserAct, UserEvent } from '@cinnabar/local-discord';
import type { APIMessage, APIModalInteractionResponseCallbackData } from 'discord-api-types/v10';
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { type Connection, type ConnectionState, connect } from './connection';
import { t } from './texts';

interface OpenModal {
  interaction: string;
  modal: APIModalInteractionResponseCallbackData;
}

interface History {
  messages: APIMessage[];
  more: boolean;
}

/** The unsent text. */
export interface Draft {
  text: string;
  files: readonly File[];
}

/** Discord's time limit for a bot's answer. */
const ANSWER_WITHIN_MS = 3_000;
const TYPING_MS = 10_000;
const NOTICE_MS = 8_000;
/** For a channel that shows its newest messages: older ones can be loaded again. */
const KEPT_MESSAGES = 100;

/** The complete state of the page, for one member. */
export class Store {
  state: ConnectionState = 'connecting';
  world: Snapshot | undefined;
  channelId: string | undefined;
  replyTo: APIMessage | undefined;
  editing: APIMessage | undefined;
  modal: OpenModal | undefined;
  /** The last error message. */
  notice: string | undefined;
  /** How far the server's clock is ahead of the browser's, in milliseconds. */
  aheadMs = 0;
  /** Whether the newest message is in view, and older ones need not be kept. */
  isAtEnd = true;
  /** The first unread message of the channel when it was opened. */
  newFrom: string | undefined;
  /** Drafts by channel. */
  readonly drafts = new Map<string, Draft>();
  readonly histories = new Map<string, History>();
  /** By channel: who is typing, and until when. */
  readonly typing = new Map<string, Map<string, number>>();
  /** Users by id; members by guild first, with their names there. */
  #people: ReadonlyMap<string, SeenPerson> = new Map();
  #members: ReadonlyMap<SeenGuild | undefined, ReadonlyMap<string, string>> = new Map();
  readonly #own = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  readonly #connection: Connection;
  /** After a reconnection, the shown state may be out of date. */
  #isStale = true;
  #noticeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly address: { key: string; as: string }) {
    this.#connection = connect(
      address,
      (event) => this.#on(event),
      (state) => {
        this.state = state;
        if (state !== 'online') this.#isStale = true;
        this.changed();
      },
    );
  }

  close(): void {
    this.#connection.close();
  }

  /** Grows with each change. */
  get version(): number {
    return this.#version;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }

  get act(): Connection['act'] {
    return this.#connection.act;
  }

  /** Runs it, and shows an error. @returns whether it succeeded */
  async try(act: UserAct): Promise<boolean> {
    try {
      const ok: object = await this.act(act);
      if ('interaction' in ok) this.#await(String(ok.interaction));
      return true;
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  tell(notice: string | undefined): void {
    this.notice = notice;
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => {
      this.notice = undefined;
      this.changed();
    }, NOTICE_MS);
    this.changed();
  }

  get channels(): readonly SeenChannel[] {
    return [...(this.world?.guilds.flatMap(({ channels }) => channels) ?? []), ...(this.world?.dms ?? [])];
  }

  get channel(): SeenChannel | undefined {
    return this.channels.find(({ id }) => id === this.channelId);
  }

  /** Roles of the shown channel's guild; empty in a DM. */
  get guild(): SeenGuild | undefined {
    return this.world?.guilds.find(({ channels }) => channels.some(({ id }) => id === this.channelId));
  }

  nameOf(userId: string): string | undefined {
    return this.#members.get(this.guild)?.get(userId) ?? this.#people.get(userId)?.name;
  }

  isBot(userId: string): boolean {
    return this.#people.get(userId)?.bot === true;
  }

  async show(channelId: string): Promise<void> {
    this.channelId = channelId;
    this.replyTo = undefined;
    this.editing = undefined;
    this.changed();
    this.newFrom = undefined;
    if (!this.histories.has(channelId)) await this.#load(channelId);
    if (this.channelId === channelId) this.seen();
  }

  /** Starts a thread or opens a DM, and shows it. @returns whether it succeeded */
  async enter(act: Extract<UserAct, { act: 'startThread' | 'openDm' }>): Promise<boolean> {
    try {
      const { channel } = await this.act(act);
      if (!this.channels.some(({ id }) => id === channel)) await this.refresh();
      await this.show(channel);
      document.getElementById('composer')?.focus();
      return true;
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  /** Lets the member edit their newest message of the shown channel. */
  editLast(): void {
    const { messages = [] } = this.histories.get(this.channelId ?? '') ?? {};
    const last = messages.findLast(({ author }) => author.id === this.world?.me.id);
    if (last === undefined) return;
    this.replyTo = undefined;
    this.editing = last;
    this.changed();
  }

  async older(): Promise<void> {
    const { channelId } = this;
    const history = channelId === undefined ? undefined : this.histories.get(channelId);
    const [first] = history?.messages ?? [];
    if (channelId === undefined || history === undefined || first === undefined) return;
    const { messages, more } = await this.act({ act: 'messages', channel: channelId, before: first.id });
    history.messages = [...messages, ...history.messages];
    history.more = more;
    this.changed();
  }

  typingIn(channelId: string | undefined): readonly string[] {
    const now = Date.now();
    return [...(this.typing.get(channelId ?? '') ?? [])].flatMap(([user, until]) =>
      until > now ? [this.nameOf(user) ?? t('someone')] : [],
    );
  }

  async #load(channelId: string): Promise<void> {
    try {
      this.histories.set(channelId, await this.act({ act: 'messages', channel: channelId }));
    } catch (error) {
      if (this.state === 'online') this.tell(error instanceof Error ? error.message : String(error));
    }
    this.changed();
  }

  #await(interaction: string): void {
    const timer = setTimeout(() => {
      this.#own.delete(interaction);
      this.tell(t('The application did not respond.'));
    }, ANSWER_WITHIN_MS);
    this.#own.set(interaction, timer);
  }

  #ack(): void {
    const { channel } = this;
    const last = this.histories.get(channel?.id ?? '')?.messages.at(-1);
    if (channel === undefined || last === undefined || channel.unread === 0 || document.hidden) return;
    channel.unread = 0;
    void this.act({ act: 'ack', channel: channel.id, message: last.id }).catch(() => undefined);
    this.changed();
  }

  /** Requests all places and people again. */
  async refresh(): Promise<void> {
    this.#on({ event: 'snapshot', ...(await this.act({ act: 'snapshot' })) });
  }

  /** Marks everything on the screen as read; remembers what was unread. */
  seen(): void {
    const { unread = 0 } = this.channel ?? {};
    const { messages = [], more = false } = this.histories.get(this.channelId ?? '') ?? {};
    if (unread > 0 && !document.hidden) {
      const first = messages.filter(({ author }) => author.id !== this.world?.me.id).at(-unread);
      // In a channel that was never opened, all messages are new.
      const isAll = first === messages[0] && !more;
      this.newFrom = isAll ? undefined : first?.id;
    }
    this.#ack();
  }

  #on(event: UserEvent): void {
    switch (event.event) {
      case 'snapshot':
        this.#resync(event);
        break;
      case 'ack': {
        const channel = this.channels.find(({ id }) => id === event.channel);
        if (channel) channel.unread = event.unread;
        break;
      }
      case 'clock':
        this.aheadMs = event.now - Date.now();
        break;
      case 'message':
        this.#message(event.message, event.isNew);
        break;
      case 'messageDelete': {
        const history = this.histories.get(event.channel);
        if (history) history.messages = history.messages.filter(({ id }) => id !== event.message);
        const channel = this.channels.find(({ id }) => id === event.channel);
        if (channel) channel.unread = event.unread;
        break;
      }
      case 'typing': {
        const people = this.typing.get(event.channel) ?? new Map<string, number>();
        this.typing.set(event.channel, people.set(event.user, Date.now() + TYPING_MS));
        setTimeout(() => this.changed(), TYPING_MS + 50);
        break;
      }
      case 'interaction': {
        clearTimeout(this.#own.get(event.interaction));
        const own = this.#own.delete(event.interaction);
        if (event.modal && own) this.modal = { interaction: event.interaction, modal: event.modal };
        break;
      }
    }
    this.changed();
  }

  /** At the start, after a reconnection, and when places or people have changed. */
  #resync(world: Snapshot): void {
    if (this.#isStale) this.histories.clear();
    this.#isStale = false;
    this.world = world;
    this.#people = new Map(world.people.map((person) => [person.id, person]));
    this.#members = new Map(
      world.guilds.map((guild) => [guild, new Map(guild.members.map(({ id, name }) => [id, name]))]),
    );
    this.aheadMs = world.now - Date.now();
    const shown = this.channel ?? this.channels.find(({ writable }) => writable) ?? this.channels[0];
    if (shown && (shown.id !== this.channelId || !this.histories.has(shown.id))) void this.show(shown.id);
    else this.#ack();
  }

  #message(message: APIMessage, isNew: boolean): void {
    const { channel_id: channelId } = message;
    this.typing.get(channelId)?.delete(message.author.id);
    const history = this.histories.get(channelId);
    const at = history?.messages.findIndex(({ id }) => id === message.id) ?? -1;
    if (history && at >= 0) history.messages = history.messages.with(at, message);
    else if (history && isNew) this.#append(history, message);
    const channel = this.channels.find(({ id }) => id === channelId);
    if (channel === undefined) {
      void this.refresh().catch(() => undefined);
    } else if (isNew && message.author.id !== this.world?.me.id) {
      channel.unread += 1;
      if (channelId === this.channelId) this.#ack();
    }
  }

  #append(history: History, message: APIMessage): void {
    const messages = [...history.messages, message];
    const isRead = message.channel_id === this.channelId && !this.isAtEnd;
    const isFull = messages.length > KEPT_MESSAGES && !isRead;
    history.messages = isFull ? messages.slice(-KEPT_MESSAGES) : messages;
    history.more ||= isFull;
  }
}

/** Replaces mentions by names, as people type and read them. */
export function withNames(text: string, store: Store): string {
  return text
    .replace(/<@!?(\d+)>/g, (whole, id: string) => (store.nameOf(id) ? `@${store.nameOf(id)}` : whole))
    .replace(/<#(\d+)>/g, (whole, id: string) => {
      const found = store.channels.find((channel) => channel.id === id);
      return found ? `#${found.name}` : whole;
    });
}

export const StoreContext = createContext<Store | undefined>(undefined);

/** The store, for components that are rendered only with their parent. */
export function useStillStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error('There is no store here.');
  return store;
}

/** The store; the component is rendered again whenever it changes. */
export function useStore(): Store {
  const store = useStillStore();
  const [, draw] = useState(store.version);
  useEffect(() => {
    const update = () => draw(store.version);
    // The effect runs after the first rendering: no listener was notified of changes in between.
    update();
    return store.listen(update);
  }, [store]);
  return store;
}

const SECOND_MS = 1_000;

/** The server's time; the component is rendered again each second. */
export function useNow(): number {
  const store = useStore();
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return Date.now() + store.aheadMs;
}
