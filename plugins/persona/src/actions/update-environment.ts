import { z } from '@cinnabar/sdk';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const updateEnvironment = (store: PersonaStore) =>
  defineAction({
    name: 'UPDATE_ENVIRONMENT',
    description: 'Change the setting I am in',
    contextNeeded: 'What changes around me, and why',
    result: z.object({
      environment: tidyText(LIMITS.short).describe('Where I am now and what it is like there, in full'),
    }),
    parallel: true,
    async execute({ environment }, { place, author }) {
      const what = `environment: ${environment}`;
      await store.change(place, author, what, (state) => {
        state.environment = environment;
      });
      return what;
    },
  });
