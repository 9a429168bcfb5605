import { type Collection, PERSONA_SYSTEM_EVENTS, type PersonaEvent, z } from '@cinnabar/sdk';
import { keysOf } from '../conversation/conversation-store.js';
import type { MayRead } from '../personal-data.js';

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
        /** Whose words led to it. */
        askedBy: z.string().nullable().default(null),
        /** Of whose words it may speak. */
        userIds: z.array(z.string()),
        /** What it had read, and what the memories were learned from that it had in mind. */
        messageIds: z.array(z.string()),
        memoryIds: z.array(z.string()).default([]),
        events: z.array(event),
      }),
    )
    .default([]),
});
type Trace = z.output<typeof trace>;

/** To be declared among the plugin's collections. */
export const traces = { scope: 'channel', version: 1, schema: trace } as const;

/** The events of the latest runs of each channel. */
export interface TraceStore {
  keep(
    channelId: string,
    run: {
      readonly sessionId: string;
      readonly askedBy: string | null;
      readonly userIds: readonly string[];
      readonly messageIds: readonly string[];
      readonly memoryIds: readonly string[];
      readonly events: readonly PersonaEvent[];
    },
  ): Promise<void>;
  recent(channelId: string): Promise<readonly PersonaEvent[]>;
  /** Those that had read one of these messages. */
  forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Those of any channel that had one of these messages or memories in mind. Looks through everything: for what is rare. */
  forgetEverywhere(gone: {
    readonly messageIds?: readonly string[];
    readonly memoryIds?: readonly string[];
  }): Promise<void>;
  /** Those of which there are traces. */
  channels(): Promise<readonly string[]>;
  forgetRun(channelId: string, sessionId: string): Promise<void>;
  clear(channelId: string): Promise<void>;
  /** Runs that a member's words led to. Others may speak of them, too, but are told where the member may not read. */
  /** Runs that answered a member; without words where that member may not read the channel any more. */
  export(userId: string, mayRead: MayRead): Promise<unknown>;
  /** Runs that may speak of a member's words. */
  forget(userId: string): Promise<void>;
}

const KEPT_RUNS = 8;
const KEPT_EVENTS = 200;

export function createTraceStore(collection: Collection<Trace, 'channel'>): TraceStore {
  const drop = async (channelId: string, isGone: (run: Trace['runs'][number]) => boolean) => {
    const there = await collection.of(channelId).find();
    if (there === undefined || !there.runs.some(isGone)) return;
    await collection.of(channelId).update((draft) => {
      draft.runs = draft.runs.filter((run) => !isGone(run));
    });
  };
  return {
    async keep(channelId, { sessionId, askedBy, userIds, messageIds, memoryIds, events }) {
      const run = {
        sessionId,
        askedBy,
        memoryIds: [...memoryIds],
        userIds: [...userIds],
        messageIds: [...messageIds],
        events: events.slice(0, KEPT_EVENTS).map((one) => ({ ...one })),
      };
      await collection.of(channelId).update((draft) => {
        draft.runs = [...draft.runs, run].slice(-KEPT_RUNS);
      });
    },
    recent: async (channelId) => (await collection.of(channelId).get()).runs.flatMap(({ events }) => events),
    forgetMessages: (channelId, messageIds) =>
      drop(channelId, (run) => run.messageIds.some((id) => messageIds.includes(id))),
    async forgetEverywhere({ messageIds = [], memoryIds = [] }) {
      const [messages, memories] = [new Set(messageIds), new Set(memoryIds)];
      for await (const [channelId] of collection.entries()) {
        await drop(
          channelId,
          (run) => run.messageIds.some((id) => messages.has(id)) || run.memoryIds.some((id) => memories.has(id)),
        );
      }
    },
    channels: () => keysOf(collection),
    forgetRun: (channelId, sessionId) => drop(channelId, (run) => run.sessionId === sessionId),
    clear: (channelId) => collection.of(channelId).delete(),
    async export(userId, mayRead) {
      const found: Record<string, unknown> = {};
      for await (const [channelId, { runs }] of collection.entries()) {
        const theirs = runs.filter(({ askedBy }) => askedBy === userId);
        if (theirs.length === 0) continue;
        const isShown = await mayRead({ channelId });
        found[channelId] = isShown ? theirs : theirs.map(({ sessionId }) => ({ sessionId, events: null }));
      }
      return found;
    },
    async forget(userId) {
      for await (const [channelId] of collection.entries())
        await drop(channelId, ({ userIds }) => userIds.includes(userId));
    },
  };
}
