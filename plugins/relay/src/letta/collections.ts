import { type Collection, z } from '@cinnabar/sdk';

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
