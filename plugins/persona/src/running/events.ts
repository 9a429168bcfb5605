import {
  type Clock,
  type Collection,
  createKeyedMutex,
  type Logger,
  PERSONA_SYSTEM_EVENTS,
  type PersonaEvent,
  type PersonaPlace,
  type PersonaSystemEvent,
  type Personas,
  t,
  textMessages,
  z,
} from '@cinnabar/sdk';
import { type AnyThreadChannel, ChannelType, type Client, type SendableChannels } from 'discord.js';
import type { PersonaContext } from '../context.js';
import { keysOf } from '../conversation/conversation-store.js';
import type { MayRead } from '../personal-data.js';

export type EventHub = ReturnType<typeof createEventHub>;

/** Passes events to subscribers. */
export function createEventHub(log: Logger) {
  const listeners = new Set<(event: PersonaEvent) => void>();
  const subscribe: Personas['subscribe'] = ({ guildId, channelId }, listener) => {
    const listen = (event: PersonaEvent) => {
      if (guildId !== undefined && event.guildId !== guildId) return;
      if (channelId === undefined || event.channelId === channelId) listener(event);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  };
  const publish = (event: PersonaEvent): void => {
    for (const listen of [...listeners]) {
      try {
        listen(event);
      } catch (error) {
        log.warn('a listener to a persona failed', { error });
      }
    }
  };
  return { subscribe, publish };
}

type EventContent = PersonaEvent extends infer E ? (E extends PersonaEvent ? Omit<E, keyof Moment> : never) : never;
type Moment = Pick<PersonaEvent, 'guildId' | 'channelId' | 'sessionId' | 'at'>;

export type EventEmitter = ReturnType<typeof createEmitter>;

/** The events of one action, or of a whole run. */
function createEmitter(emit: (content: EventContent) => void) {
  return {
    started: (toolId: string, tool: string, context: string) =>
      emit({ type: 'tool-started', toolId, tool, parameters: { context } }),
    finished: (toolId: string, tool: string, result: string, failed = false) =>
      emit({ type: 'tool-finished', toolId, tool, result, failed }),
    text: (content: string, isThought: boolean) => emit({ type: 'text', content, isThought }),
    system: (event: PersonaSystemEvent, message: string, reasoning?: string) =>
      emit({ type: 'system', event, message, ...(reasoning ? { reasoning } : {}) }),
  };
}

export type RunEvents = ReturnType<typeof createRunEvents>;

/** Emits the events of one run, in order. */
export function createRunEvents(
  hub: EventHub,
  { guildId, channelId }: PersonaPlace,
  sessionId: string,
  clock: Pick<Clock, 'now'>,
) {
  const events: PersonaEvent[] = [];
  const emit = (content: EventContent) => {
    const event = { guildId, channelId, sessionId, at: clock.now(), ...content };
    events.push(event);
    hub.publish(event);
  };
  return {
    ...createEmitter(emit),
    /** All events of the run so far. */
    events,
    /** Holds events back until `flush`, so that events of concurrent actions are not mixed. */
    buffered() {
      const waiting: EventContent[] = [];
      return { ...createEmitter((content) => waiting.push(content)), flush: () => waiting.splice(0).forEach(emit) };
    },
  };
}

const base = { guildId: z.string().nullable(), channelId: z.string(), sessionId: z.string(), at: z.number() };
const event = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('tool-started'),
    toolId: z.string(),
    tool: z.string(),
    parameters: z.object({ context: z.string() }),
  }),
  z.object({
    ...base,
    type: z.literal('tool-finished'),
    toolId: z.string(),
    tool: z.string(),
    result: z.string(),
    failed: z.boolean(),
  }),
  z.object({ ...base, type: z.literal('text'), content: z.string(), isThought: z.boolean() }),
  z.object({
    ...base,
    type: z.literal('system'),
    event: z.enum(PERSONA_SYSTEM_EVENTS),
    message: z.string(),
    reasoning: z.string().optional(),
  }),
]);

const trace = z.object({
  runs: z
    .array(
      z.object({
        sessionId: z.string(),
        /** The member whose message led to the run. */
        askedBy: z.string().nullable().default(null),
        /** The members whose messages it may contain. */
        userIds: z.array(z.string()),
        /** The messages that the run had read, and those from which its memories were learned. */
        messageIds: z.array(z.string()),
        memoryIds: z.array(z.string()).default([]),
        events: z.array(event),
      }),
    )
    .default([]),
});
type Trace = z.output<typeof trace>;

/** To be declared among the plugin's collections. */
export const traces = { scope: 'channel', version: 1, schema: trace, personal: 'handled' } as const;

export type TraceStore = ReturnType<typeof createTraceStore>;

const KEPT_RUNS = 8;
const KEPT_EVENTS = 200;

/** The events of the latest runs of each channel. */
export function createTraceStore(collection: Collection<Trace, 'channel'>) {
  const drop = async (channelId: string, isGone: (run: Trace['runs'][number]) => boolean) => {
    const there = await collection.of(channelId).find();
    if (there === undefined || !there.runs.some(isGone)) return;
    await collection.of(channelId).update((draft) => {
      draft.runs = draft.runs.filter((run) => !isGone(run));
    });
  };
  return {
    async keep(
      channelId: string,
      run: Omit<Trace['runs'][number], 'events'> & { readonly events: readonly PersonaEvent[] },
    ): Promise<void> {
      await collection.of(channelId).update((draft) => {
        const events = run.events.slice(0, KEPT_EVENTS).map((one) => ({ ...one }));
        draft.runs = [...draft.runs, { ...run, events }].slice(-KEPT_RUNS);
      });
    },
    recent: async (channelId: string): Promise<readonly PersonaEvent[]> =>
      (await collection.of(channelId).get()).runs.flatMap(({ events }) => events),
    /** Deletes the traces of runs that had read one of these messages. */
    forgetMessages: (channelId: string, messageIds: readonly string[]): Promise<void> =>
      drop(channelId, (run) => run.messageIds.some((id) => messageIds.includes(id))),
    /** Deletes the traces of runs in all channels that used one of these messages or memories. Reads all traces, so it is only for rare events. */
    async forgetEverywhere({
      messageIds = [],
      memoryIds = [],
    }: {
      readonly messageIds?: readonly string[];
      readonly memoryIds?: readonly string[];
    }): Promise<void> {
      const [messages, memories] = [new Set(messageIds), new Set(memoryIds)];
      for await (const [channelId] of collection.entries()) {
        await drop(
          channelId,
          (run) => run.messageIds.some((id) => messages.has(id)) || run.memoryIds.some((id) => memories.has(id)),
        );
      }
    },
    /** Channels with traces. */
    channels: (): Promise<readonly string[]> => keysOf(collection),
    forgetRun: (channelId: string, sessionId: string): Promise<void> =>
      drop(channelId, (run) => run.sessionId === sessionId),
    clear: (channelId: string): Promise<void> => collection.of(channelId).delete(),
    /** Runs that answered a member; without their events when the member may no longer read the channel. */
    async export(userId: string, mayRead: MayRead): Promise<unknown> {
      const found: Record<string, unknown> = {};
      for await (const [channelId, { runs }] of collection.entries()) {
        const theirs = runs.filter(({ askedBy }) => askedBy === userId);
        if (theirs.length === 0) continue;
        const isShown = await mayRead({ channelId });
        found[channelId] = isShown ? theirs : theirs.map(({ sessionId }) => ({ sessionId, events: null }));
      }
      return found;
    },
    /** Deletes runs that may contain a member's text. */
    async forget(userId: string): Promise<void> {
      for await (const [channelId] of collection.entries())
        await drop(channelId, ({ userIds }) => userIds.includes(userId));
    },
  };
}

/** The thread of each channel in which thoughts are shown. To be declared among the plugin's collections. */
export const thoughtThreads = { scope: 'channel', version: 1, schema: z.object({ threadId: z.string() }) } as const;

type Threads = Collection<{ threadId: string }, 'channel'>;

/** Shows thoughts in a thread, in guilds with that setting. @returns a function that stops this */
export function showThoughts(threads: Threads, persona: PersonaContext): () => void {
  const { background, hub, languages, settingsFor, client, signal } = persona;
  const inOrder = createKeyedMutex();
  const show = async ({ channelId, guildId }: PersonaPlace, thought: string) => {
    if (signal.aborted || guildId === null || (await settingsFor(guildId)).thoughts !== 'thread') return;
    const channel = client.channels.cache.get(channelId);
    const thread = channel?.isSendable() === true ? await threadOf(channel, threads, client) : undefined;
    for (const message of textMessages(thought)) await thread?.send({ ...message, allowedMentions: { parse: [] } });
  };
  return hub.subscribe({}, (event: PersonaEvent) => {
    if (event.type !== 'text' || !event.isThought) return;
    const { guildId } = event;
    // All members read the thread, so it is in the guild's language and not in that of the answered member.
    const inGuild = () => languages.speak({ guildId }, () => show(event, event.content));
    background.run('showing a thought', () => inOrder.run(event.channelId, inGuild));
  });
}

async function threadOf(
  channel: SendableChannels,
  threads: Threads,
  client: Client,
): Promise<AnyThreadChannel | undefined> {
  if (channel.type !== ChannelType.GuildText) return undefined;
  const known = await knownThread(client, (await threads.of(channel.id).find())?.threadId);
  if (known !== undefined) return known;
  const thread = await channel.threads.create({ name: t('Thoughts'), type: ChannelType.PublicThread });
  await threads.of(channel.id).set({ threadId: thread.id });
  return thread;
}

async function knownThread(client: Client, threadId: string | undefined): Promise<AnyThreadChannel | undefined> {
  if (threadId === undefined) return undefined;
  const channel = await client.channels.fetch(threadId).catch(() => null);
  return channel?.isThread() === true ? channel : undefined;
}
