import type { PersonalData, Provenance } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { ConversationStore } from './conversation/store.js';
import type { Memories } from './memory/types.js';
import type { TraceStore } from './running/trace.js';
import { exportFromStates, forgetInStates, type MayRead } from './state/personal.js';
import type { PersonaCollections } from './state/store.js';

export interface PersonalParts {
  readonly collections: PersonaCollections;
  readonly conversations: ConversationStore;
  readonly traces: TraceStore;
  readonly memories: Pick<Memories, 'personalData'>;
  readonly client: Client;
  readonly provenance: Pick<Provenance, 'mayHave'>;
}

/** Everything that is kept of one member: what they said, what is remembered, the runs that they had a part in, what they changed. */
export function personalData(parts: PersonalParts): PersonalData {
  const { collections, conversations, traces, memories, client, provenance } = parts;
  const mayReadFor =
    (userId: string): MayRead =>
    async ({ channelId, messageId, guildId = guildOf(channelId) }) => {
      const messages = messageId == null ? {} : { messageIds: [messageId] };
      const channel = channelId === undefined ? {} : { channelId };
      return provenance.mayHave([{ guildId, ...channel, ...messages }], userId);
    };
  /** `null` in a direct message; no member can read a channel that is gone. */
  const guildOf = (channelId: string | undefined) => {
    const channel = client.channels.cache.get(channelId ?? '');
    return channel === undefined || channel.isDMBased() ? null : channel.guildId;
  };
  return {
    export: async (userId) => ({
      conversations: await conversations.export(userId),
      memories: await memories.personalData.export(userId, mayReadFor(userId)),
      personas: await exportFromStates(collections, userId, mayReadFor(userId)),
      traces: await traces.export(userId, mayReadFor(userId)),
    }),
    async forget(userId) {
      await memories.personalData.forget(userId);
      await conversations.forget(userId);
      await traces.forget(userId);
      await forgetInStates(collections, userId);
    },
  };
}
