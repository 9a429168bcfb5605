import { z } from '@cinnabar/sdk';
import { LIMITS } from '../state/schema.js';
import type { PersonaStore } from '../state/store.js';
import { defineAction } from './action.js';
import { tidyText } from './text.js';

export const updateAppearance = (store: PersonaStore) =>
  defineAction({
    name: 'UPDATE_APPEARANCE',
    description: 'Change how I look',
    contextNeeded: 'What changes about my looks, and why',
    result: z.object({ appearance: tidyText(LIMITS.short).describe('How I look now, in full') }),
    parallel: true,
    async execute({ appearance }, { place, author }) {
      const what = `appearance: ${appearance}`;
      await store.change(place, author, what, (state) => {
        state.appearance = appearance;
      });
      return what;
    },
  });
