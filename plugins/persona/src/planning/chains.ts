import type { PersonaChain } from '@cinnabar/sdk';

/** Sequences for common patterns. */
export const CHAINS: readonly PersonaChain[] = [
  {
    name: 'FEEL_AND_ANSWER',
    description: 'Something touched me: think, let the mood follow, answer',
    actions: ['THINK', 'UPDATE_MOOD', 'SPEAK'],
  },
  {
    name: 'LEARN_AND_ANSWER',
    description: 'I was told something worth keeping: remember it, answer',
    actions: ['ADD_MEMORY', 'SPEAK'],
  },
  {
    name: 'ACT_AND_REPORT',
    description: 'I was asked for something that a tool does: use it, tell what came of it',
    actions: ['USE_TOOL', 'SPEAK'],
  },
  {
    name: 'NOTICE_IN_SILENCE',
    description: 'Not for me to answer, but not nothing to me: think, let the mood follow, stay silent',
    actions: ['THINK', 'UPDATE_MOOD', 'DONE'],
  },
];
