import { z } from '@cinnabar/sdk';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const updateMood = (store: PersonaStore) =>
  defineAction({
    name: 'UPDATE_MOOD',
    description: 'Change my current mood and how strongly I feel it',
    contextNeeded: 'What caused the change, and in which direction it goes',
    result: z.object({
      mood: tidyText(LIMITS.mood).describe('The mood in a word or two'),
      intensity: z.number().min(0).max(10).describe('0 (hardly felt) to 10 (overwhelming)'),
    }),
    after: ['THINK'],
    parallel: true,
    async execute({ mood, intensity }, { place, author }) {
      const what = `mood: ${mood} (${intensity})`;
      await store.change(place, author, what, (state) => {
        state.mood = { name: mood, intensity };
      });
      return what;
    },
  });
