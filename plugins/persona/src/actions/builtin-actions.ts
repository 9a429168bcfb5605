import { type PersonaChain, type Tools, z } from '@cinnabar/sdk';
import type { RunParts } from '../context.js';
import type { ConversationStore } from '../conversation/conversation-store.js';
import type { Memories } from '../memory/types.js';
import type { CallLog } from '../running/after-run.js';
import { addItem, removeItem } from '../state/goals.js';
import type { PersonaStore } from '../state/persona-store.js';
import { LIMITS, tidyText } from '../state/schema.js';
import { type Action, defineAction } from './action.js';
import { addMemory, reflect, removeMemory } from './memory-actions.js';
import { noteHeld, resume, useTool } from './use-tool.js';

export interface OwnParts {
  readonly memories: Memories;
  readonly store: PersonaStore;
  readonly conversations: ConversationStore;
  readonly tools: Tools;
  readonly calls: CallLog;
  /** What a run works with: looked up when a call that had to wait has ended. */
  held(): RunParts;
}

/** Everything a persona can do by itself, in the order in which the planner reads it. */
export function ownActions({ memories, store, conversations, tools, calls, held }: OwnParts): readonly Action[] {
  return [
    think,
    updateMood(store),
    addMemory(memories, store, conversations),
    removeMemory(memories, store),
    updateAppearance(store),
    updateEnvironment(store),
    addGoal(store),
    removeGoal(store),
    addDesire(store),
    removeDesire(store),
    reflect(memories),
    useTool({
      tools,
      onHeld: (run, tool, callId) => noteHeld(run, tool, callId, held()),
      onSettled(run, tool, outcome) {
        const parts = held();
        parts.background.run('thinking about the end of a call', () => resume(run, tool, outcome, parts));
      },
      onCall: ({ sessionId }, tool, outcome) => calls.note(sessionId, tool, outcome),
    }),
    speak,
    done,
  ];
}

export const think = defineAction({
  name: 'THINK',
  description: 'Process emotional reactions and analyze the situation',
  contextNeeded:
    'Specific aspects to focus thinking on: emotional elements, relationship dynamics, or particular details requiring analysis',
  result: z.object({ thought: tidyText(4_000).describe('The thought itself, in the first person; nobody hears it') }),
  telling: 'thought',
  execute: ({ thought }) => thought,
});

export const speak = defineAction({
  name: 'SPEAK',
  description: 'Say something in the channel; never needed when silence says enough',
  contextNeeded: 'What I want to get across, to whom, and in which tone',
  result: z.object({
    message: tidyText(6_000).describe(
      'My words as everybody reads them: usually one to three sentences, no name in front',
    ),
  }),
  telling: 'speech',
  words: ({ message }) => message,
  async execute({ message }, { say }) {
    await say(message);
    return message;
  },
});

export const done = defineAction({
  name: 'DONE',
  description: 'Complete the sequence; nothing after it is carried out',
  contextNeeded: 'Why nothing more is needed',
  result: z.object({}),
  telling: 'end',
  execute: () => 'done',
});

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
