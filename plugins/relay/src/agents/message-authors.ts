import { type Collection, createdAt, type SettledCall, z } from '@cinnabar/sdk';
import { agentKeyOf } from './permissions.js';

/** Which agent wrote the latest messages of a channel, for reactions and replies to them. */
export const posts = {
  scope: 'channel',
  version: 1,
  schema: z.object({ latest: z.array(z.object({ id: z.string(), agent: z.string() })).default([]) }),
} as const;

const REMEMBERED = 200;

export type MessageAuthors = ReturnType<typeof createMessageAuthors>;

interface Recording {
  readonly identity: string;
  readonly channelId: string;
  messageIds: readonly string[];
}

/** Finds the agent that wrote a message, and records the messages of agents: stored ones by channel, and those of current runs. */
export function createMessageAuthors(stored: Collection<z.output<typeof posts.schema>, 'channel'>) {
  const recordings = new Set<Recording>();

  const note = async (channelId: string, agent: string, messageIds: readonly string[]): Promise<void> => {
    if (messageIds.length === 0) return;
    await stored.of(channelId).update((draft) => {
      draft.latest = [...draft.latest, ...messageIds.map((id) => ({ id, agent }))].slice(-REMEMBERED);
    });
  };

  return {
    note,
    /** The roster key of the agent that wrote a message. */
    async agentOf(channelId: string, messageId: string): Promise<string | undefined> {
      return (await stored.of(channelId).get()).latest.find(({ id }) => id === messageId)?.agent;
    },
    /** Whether an agent has written in a channel since a time in milliseconds since the Unix epoch. */
    async hasWritten(channelId: string, agent: string, since: number): Promise<boolean> {
      const { latest } = await stored.of(channelId).get();
      return latest.some((post) => post.agent === agent && createdAt(post.id) >= since);
    },
    /** For `Tools.onSettled`: records the messages of a tool call that has ended. */
    async onToolCall(call: SettledCall): Promise<void> {
      const { identity } = call.actor;
      const agent = identity === undefined ? undefined : agentKeyOf(identity);
      const written = agent === undefined ? undefined : writtenBy(call);
      if (agent === undefined || written === undefined) return;
      for (const recording of recordings) {
        if (recording.identity === identity && recording.channelId === written.channelId)
          recording.messageIds = [...recording.messageIds, ...written.messageIds];
      }
      await note(written.channelId, agent, written.messageIds);
    },
    /** Records the messages of an identity in a channel, until `end` is called. */
    record(identity: string, channelId: string) {
      const recording: Recording = { identity, channelId, messageIds: [] };
      recordings.add(recording);
      return { messageIds: () => recording.messageIds, end: () => recordings.delete(recording) };
    },
  };
}

const written = z.object({
  channelId: z.string().optional(),
  messageId: z.string().optional(),
  messageIds: z.array(z.string()).optional(),
});

/** The channel and messages that a call has written, according to its output; `undefined` when it wrote none. */
function writtenBy({ outcome, input }: SettledCall): { channelId: string; messageIds: readonly string[] } | undefined {
  if (outcome.status !== 'done') return undefined;
  const output = written.safeParse(outcome.output);
  const asked = written.safeParse(input);
  if (!output.success) return undefined;
  const { messageId, messageIds = messageId === undefined ? [] : [messageId] } = output.data;
  const channelId = output.data.channelId ?? (asked.success ? asked.data.channelId : undefined);
  return channelId === undefined || messageIds.length === 0 ? undefined : { channelId, messageIds };
}
