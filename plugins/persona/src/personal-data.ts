import type { PersonalData } from '@cinnabar/sdk';
import type { ConversationStore } from './conversation/store.js';
import type { Memories } from './memory/types.js';
import type { TraceStore } from './running/trace.js';
import { exportFromStates, forgetInStates } from './state/personal.js';
import type { PersonaCollections } from './state/store.js';

export interface PersonalParts {
  readonly collections: PersonaCollections;
  readonly conversations: ConversationStore;
  readonly traces: TraceStore;
  readonly memories: Pick<Memories, 'personalData'>;
}

/** Everything that is kept of one member: what they said, what is remembered, the runs that they had a part in, what they changed. */
export function personalData({ collections, conversations, traces, memories }: PersonalParts): PersonalData {
  return {
    export: async (userId) => ({
      conversations: await conversations.export(userId),
      memories: await memories.personalData.export(userId),
      personas: await exportFromStates(collections, userId),
      traces: await traces.export(userId),
    }),
    async forget(userId) {
      await memories.personalData.forget(userId);
      await conversations.forget(userId);
      await traces.forget(userId);
      await forgetInStates(collections, userId);
    },
  };
}
