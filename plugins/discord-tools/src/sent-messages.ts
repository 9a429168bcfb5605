import { type Actor, type Collection, type MessageOriginSource, z } from '@cinnabar/sdk';

/** How many messages of a channel are remembered. */
const KEPT = 500;

/** Without `userId` once the member had their data deleted: the words are still not the bot's own. */
const entry = z.object({ id: z.string(), userId: z.string().optional(), identity: z.string().optional() });
const schema = z.object({ messages: z.array(entry).default([]) });

/** By channel, oldest first: what was sent with these tools, and for whom. */
export const sentCollection = {
  scope: 'channel',
  schema,
  version: 1,
  personal: {
    each: 'messages',
    by: 'userId',
    forget(sent: z.output<typeof entry>) {
      delete sent.userId;
      delete sent.identity;
    },
  },
} as const;

type SentCollection = Collection<z.output<typeof schema>, 'channel'>;

/** For whom each message was sent: the bot is the author of all of them, and only those members may change them. */
export interface SentMessages {
  remember(channelId: string, ids: readonly string[], actor: Actor): Promise<void>;
  /** `own` when it was sent for the same person through the same agent. */
  whose(channelId: string, id: string, actor: Actor): Promise<'own' | 'others' | 'unknown'>;
  /** The id of the latest message that was sent for a person there, through whatever agent. */
  latestFor(channelId: string, person: Pick<Actor, 'userId'>): Promise<string | undefined>;
  /** Of those that were not sent for an agent: its words are its own. */
  readonly originsOf: MessageOriginSource;
  forgetChannel(channelId: string): Promise<void>;
}

export function createSentMessages(documents: SentCollection): SentMessages {
  return {
    async remember(channelId, ids, { userId, identity }) {
      if (ids.length === 0) return;
      const added = ids.map((id) => ({ id, userId, ...(identity === undefined ? {} : { identity }) }));
      await documents.of(channelId).update((draft) => {
        // An edited message belongs to the member who edited it. It keeps its position: slow mode looks at the latest.
        const byId = new Map([...draft.messages, ...added].map((message) => [message.id, message]));
        draft.messages = [...byId.values()].slice(-KEPT);
      });
    },
    async whose(channelId, id, { userId, identity }) {
      const found = (await documents.of(channelId).find())?.messages.find((message) => message.id === id);
      if (found === undefined) return 'unknown';
      return found.userId === userId && found.identity === identity ? 'own' : 'others';
    },
    async latestFor(channelId, { userId }) {
      return (await documents.of(channelId).find())?.messages.findLast((message) => message.userId === userId)?.id;
    },
    async originsOf(channelId, messageIds) {
      const wanted = new Set(messageIds);
      const messages = (await documents.of(channelId).find())?.messages ?? [];
      return new Map(
        messages
          .filter(({ id, identity }) => identity === undefined && wanted.has(id))
          .map(({ id, userId }) => [id, { kind: 'sent-for', userId }] as const),
      );
    },
    forgetChannel: (channelId) => documents.of(channelId).delete(),
  };
}
