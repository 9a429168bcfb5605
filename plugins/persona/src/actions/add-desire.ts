import { z } from '@cinnabar/sdk';
import { addItem } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const addDesire = (store: PersonaStore) =>
  defineAction({
    name: 'ADD_DESIRE',
    description: 'Want something new, here and now',
    contextNeeded: 'What I want right now, and what woke that want',
    result: z.object({ desire: tidyText(LIMITS.short).describe('The desire in one sentence') }),
    parallel: true,
    async execute({ desire }, { place, author, origin }) {
      await store.change(place, author, `new desire: ${desire}`, ({ desires }, at) =>
        addItem(desires, { text: desire, userId: author.userId, at, origin }, 'desire'),
      );
      return `new desire: ${desire}`;
    },
  });
