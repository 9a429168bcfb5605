import { UserError, z } from '@cinnabar/sdk';
import type { Memories } from '../memory/types.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';

export const removeMemory = (memories: Memories, store: PersonaStore) =>
  defineAction({
    name: 'REMOVE_MEMORY',
    description: 'Forget a specific memory that turned out to be wrong or does not matter any more',
    contextNeeded: 'Which memory it is, and why it should go',
    result: z.object({ memory: z.string().min(1).max(80).describe('Its id, as it stands among my memories') }),
    parallel: true,
    async execute({ memory: id }, { place, author, memoryPlace, noteMemory }) {
      const memory = await memories.find(memoryPlace, id);
      if (memory === undefined || !(await memories.setAside(memoryPlace, id))) {
        throw new UserError('There is no such memory.');
      }
      noteMemory(memory);
      const change = { id, channelId: memoryPlace.channelId, kind: 'setAside' } as const;
      await store.note(place, author, change);
      return `forgot: ${memory.text}`;
    },
  });
