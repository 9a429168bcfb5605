import { type Collection, PERSONA_SYSTEM_EVENTS, type PersonaEvent, z } from '@cinnabar/sdk';

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
        userIds: z.array(z.string()),
        messageIds: z.array(z.string()),
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
      readonly userIds: readonly string[];
      /** Those that it had read. */
      readonly messageIds: readonly string[];
      readonly events: readonly PersonaEvent[];
    },
  ): Promise<void>;
  recent(channelId: string): Promise<readonly PersonaEvent[]>;
  /** Those that had read one of these messages. */
  forgetMessages(channelId: string, messageIds: readonly string[]): Promise<void>;
  forgetRun(channelId: string, sessionId: string): Promise<void>;
  clear(channelId: string): Promise<void>;
  /** Runs in which a member had a part. */
  export(userId: string): Promise<unknown>;
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
    async keep(channelId, { sessionId, userIds, messageIds, events }) {
      const run = {
        sessionId,
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
    forgetRun: (channelId, sessionId) => drop(channelId, (run) => run.sessionId === sessionId),
    clear: (channelId) => collection.of(channelId).delete(),
    async export(userId) {
      const found: Record<string, unknown> = {};
      for await (const [channelId, { runs }] of collection.entries()) {
        const theirs = runs.filter(({ userIds }) => userIds.includes(userId));
        if (theirs.length > 0) found[channelId] = theirs;
      }
      return found;
    },
    async forget(userId) {
      for await (const [channelId] of collection.entries())
        await drop(channelId, ({ userIds }) => userIds.includes(userId));
    },
  };
}
