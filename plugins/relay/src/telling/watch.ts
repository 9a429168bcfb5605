import type { SettledCall } from '@cinnabar/sdk';
import { type Posts, writtenBy } from '../presence/posts.js';

/** What agents write, while they are at work and otherwise. */
export interface Watch {
  /** To be told of every call that is over. */
  settled(call: SettledCall): Promise<void>;
  /** Looks out for what an identity writes in a channel, until `end`. */
  during(identity: string, channelId: string): Looking;
}

/** A look-out for what is written. */
export interface Looking {
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
