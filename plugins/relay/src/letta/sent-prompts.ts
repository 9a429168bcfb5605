import { type Clock, type Collection, type Logger, z } from '@cinnabar/sdk';

const place = z.object({ guildId: z.string().nullable(), channelId: z.string(), userId: z.string().nullable() });
const tool = z.object({ callId: z.string(), name: z.string(), ok: z.boolean().optional() });

const done = z.object({
  status: z.literal('done'),
  texts: z.array(z.string()),
  tools: z.array(tool),
  steps: z.number(),
  tokens: z.number(),
  stopReason: z.string(),
});
const failed = z.object({ status: z.literal('failed'), sentence: z.string(), tools: z.array(tool) });

/** What was sent to agents, by key: written before it is sent, so that a later attempt knows that it has to look first. */
const sent = {
  scope: 'global',
  version: 1,
  schema: z.object({
    agentId: z.string(),
    place,
    /** When it was first sent, in milliseconds since the Unix epoch. */
    at: z.number(),
    /** What the message is called at the server: the key, unless the server holds on to a run that came to nothing. */
    otid: z.string(),
    /** Whether the agent was seen calling a tool: then it is never sent again. */
    acted: z.boolean().default(false),
    /** How it has ended, when it has for good. */
    outcome: z.discriminatedUnion('status', [done, failed]).optional(),
  }),
} as const;

/** Requests for approval that nobody has answered yet, by the call's id: written before anybody is asked. */
const asked = {
  scope: 'global',
  version: 1,
  schema: z.object({
    agentId: z.string(),
    key: z.string(),
    callId: z.string(),
    tool: z.string(),
    input: z.string(),
    place,
    at: z.number(),
  }),
} as const;

/** What the Letta part of the relay keeps: spread them into the plugin's collections. */
export const lettaCollections = { lettaSent: sent, lettaAsked: asked };

export type SentPrompt = z.output<typeof sent.schema>;
export type AskedApproval = z.output<typeof asked.schema>;
export interface LettaStore {
  readonly lettaSent: Collection<SentPrompt, 'global'>;
  readonly lettaAsked: Collection<AskedApproval, 'global'>;
}

/** A batch that is told again after this long is a new one to everybody. */
const KEPT_MS = 24 * 60 * 60_000;

const PRUNED_EVERY_MS = 60 * 60_000;

/** Forgets prompts that nobody is going to tell again, once an hour at most. Never throws. */
export function createPruning({ lettaSent }: LettaStore, clock: Clock, log: Logger): () => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    if (now - prunedAt < PRUNED_EVERY_MS) return;
    prunedAt = now;
    try {
      for await (const [key, { at }] of lettaSent.entries()) if (at < now - KEPT_MS) await lettaSent.of(key).delete();
    } catch (error) {
      log.warn('what was told to agents could not be pruned', { error });
    }
  };
}

/** What is kept of one person's prompts. */
export async function keptOf({ lettaSent, lettaAsked }: LettaStore, userId: string): Promise<readonly unknown[]> {
  const kept: unknown[] = [];
  for await (const [, sent] of lettaSent.entries()) if (sent.place.userId === userId) kept.push(sent);
  for await (const [, asked] of lettaAsked.entries()) if (asked.place.userId === userId) kept.push(asked);
  return kept;
}

/**
 * Forgets what agents have said to a person. That something was sent stays, without them, and so does what an agent waits for: it has to be
 * answered.
 */
export async function forgetKept({ lettaSent, lettaAsked }: LettaStore, userId: string): Promise<void> {
  const isTheirs = (kept: { readonly place: { readonly userId: string | null } }) => kept.place.userId === userId;
  for await (const [key, sent] of lettaSent.entries()) {
    if (!isTheirs(sent)) continue;
    const outcome = sent.outcome?.status === 'done' ? { ...sent.outcome, texts: [] } : sent.outcome;
    await lettaSent
      .of(key)
      .set({ ...sent, place: { ...sent.place, userId: null }, ...(outcome === undefined ? {} : { outcome }) });
  }
  for await (const [callId, asked] of lettaAsked.entries()) {
    if (isTheirs(asked))
      await lettaAsked.of(callId).set({ ...asked, input: '{}', place: { ...asked.place, userId: null } });
  }
}
