import { z } from '@cinnabar/sdk';
import { removeItem } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const removeGoal = (store: PersonaStore) =>
  defineAction({
    name: 'REMOVE_GOAL',
    description: 'Complete or abandon one of my goals',
    contextNeeded: 'Which goal it is, and whether I reached it or gave it up',
    result: z.object({
      goal: tidyText(LIMITS.short).describe('Its text, as it stands in my state'),
      outcome: z.enum(['completed', 'abandoned']).describe('How it ended'),
    }),
    parallel: true,
    async execute({ goal, outcome }, { place, author }) {
      let removed = '';
      await store.change(place, author, `goal ${outcome}: ${goal}`, ({ goals }, at) => {
        removed = removeItem(goals, goal, at, 'goal');
      });
      return `goal ${outcome}: ${removed}`;
    },
  });
