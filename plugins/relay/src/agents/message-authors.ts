import { type Collection, type SettledCall, z } from '@cinnabar/sdk';
import { SnowflakeUtil } from 'discord.js';

/** Which agent has written the latest messages of a channel: for reactions, and for those that reply to one. */
export const posts = {
  scope: 'channel',
  version: 1,
  schema: z.object({ latest: z.array(z.object({ id: z.string(), agent: z.string() })).default([]) }),
} as const;

const REMEMBERED = 200;

export interface Posts {
  note(channelId: string, agent: string, messageIds: readonly string[]): Promise<void>;
  /** The agent that wrote a message, by its key in the roster. */
  agentOf(channelId: string, messageId: string): Promise<string | undefined>;
  /** Whether an agent has written in a channel since a time, in milliseconds since the Unix epoch. */
  hasWritten(channelId: string, agent: string, since: number): Promise<boolean>;
}

export function createPosts(kept: Collection<z.output<typeof posts.schema>, 'channel'>): Posts {
  return {
    async note(channelId, agent, messageIds) {
      if (messageIds.length === 0) return;
      await kept.of(channelId).update((draft) => {
        draft.latest = [...draft.latest, ...messageIds.map((id) => ({ id, agent }))].slice(-REMEMBERED);
      });
    },
    async agentOf(channelId, messageId) {
      return (await kept.of(channelId).get()).latest.find(({ id }) => id === messageId)?.agent;
    },
    async hasWritten(channelId, agent, since) {
      const { latest } = await kept.of(channelId).get();
      return latest.some((post) => post.agent === agent && SnowflakeUtil.timestampFrom(post.id) >= since);
    },
  };
}

const written = z.object({
  channelId: z.string().optional(),
  messageId: z.string().optional(),
  messageIds: z.array(z.string()).optional(),
});

/** The messages that a call has written, where, by what its tool tells of it; `undefined` when it wrote none. */
function writtenBy({ outcome, input }: SettledCall): { channelId: string; messageIds: readonly string[] } | undefined {
  if (outcome.status !== 'done') return undefined;
  const output = written.safeParse(outcome.output);
  const asked = written.safeParse(input);
  if (!output.success) return undefined;
  const { messageId, messageIds = messageId === undefined ? [] : [messageId] } = output.data;
  const channelId = output.data.channelId ?? (asked.success ? asked.data.channelId : undefined);
  return channelId === undefined || messageIds.length === 0 ? undefined : { channelId, messageIds };
}

/** What agents write, while they are at work and otherwise. */
export interface Watch {
  /** To be told of every call that is over. */
  settled(call: SettledCall): Promise<void>;
  /** Looks out for what an identity writes in a channel, until `end`. */
  during(identity: string, channelId: string): Looking;
}

/** A look-out for what is written. */
interface Looking {
  posted(): boolean;
  messageIds(): readonly string[];
  end(): void;
}

interface Run {
  readonly identity: string;
  readonly channelId: string;
  messageIds: readonly string[];
}

/** @param keyOf an agent's key in its roster, by its identity; `undefined` for identities of others */
export function createWatch(posts: Posts, keyOf: (identity: string) => string | undefined): Watch {
  const runs = new Set<Run>();
  return {
    async settled(call) {
      const { identity } = call.actor;
      const key = identity === undefined ? undefined : keyOf(identity);
      const written = key === undefined ? undefined : writtenBy(call);
      if (key === undefined || written === undefined) return;
      for (const run of runs) {
        if (run.identity === identity && run.channelId === written.channelId)
          run.messageIds = [...run.messageIds, ...written.messageIds];
      }
      await posts.note(written.channelId, key, written.messageIds);
    },
    during(identity, channelId) {
      const run: Run = { identity, channelId, messageIds: [] };
      runs.add(run);
      return { posted: () => run.messageIds.length > 0, messageIds: () => run.messageIds, end: () => runs.delete(run) };
    },
  };
}
