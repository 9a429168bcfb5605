import { findPlace, type PersonalData, type Provenance } from '@cinnabar/sdk';
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
    async ({ guildId, channelId, messageId }) => {
      const messages = messageId == null ? {} : { messageIds: [messageId] };
      const place =
        channelId === undefined || guildId !== undefined
          ? { guildId: guildId ?? null, ...(channelId === undefined ? {} : { channelId }) }
          : await findPlace(client, channelId);
      return provenance.mayHave([{ ...place, ...messages }], userId);
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
