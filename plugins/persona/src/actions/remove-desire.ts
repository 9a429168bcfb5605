import { z } from '@cinnabar/sdk';
import { removeItem } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const removeDesire = (store: PersonaStore) =>
  defineAction({
    name: 'REMOVE_DESIRE',
    description: 'Let go of a desire, satisfied or given up',
    contextNeeded: 'Which desire it is, and what became of it',
    result: z.object({
      desire: tidyText(LIMITS.short).describe('Its text, as it stands in my state'),
      outcome: z.enum(['satisfied', 'abandoned']).describe('How it ended'),
    }),
    parallel: true,
    async execute({ desire, outcome }, { place, author }) {
      let removed = '';
      await store.change(place, author, `desire ${outcome}: ${desire}`, ({ desires }, at) => {
        removed = removeItem(desires, desire, at, 'desire');
      });
      return `desire ${outcome}: ${removed}`;
    },
  });
