import { z } from '@cinnabar/sdk';
import { addItem } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const addGoal = (store: PersonaStore) =>
  defineAction({
    name: 'ADD_GOAL',
    description: 'Set myself a new goal',
    contextNeeded: 'What I want to achieve, and what led to it',
    result: z.object({ goal: tidyText(LIMITS.short).describe('The goal in one sentence') }),
    parallel: true,
    async execute({ goal }, { place, author, origin }) {
      await store.change(place, author, `new goal: ${goal}`, ({ goals }, at) =>
        addItem(goals, { text: goal, userId: author.userId, at, origin }, 'goal'),
      );
      return `new goal: ${goal}`;
    },
  });
