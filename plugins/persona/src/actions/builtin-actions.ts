import { type PersonaChain, z } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { PersonaStore } from '../state/persona-store.js';
import { LIMITS, type State, tidyText } from '../state/schema.js';
import { addItem, removeItem } from '../state/visibility.js';
import { type Action, defineAction } from './action.js';
import { addMemory, reflect, removeMemory } from './memory-actions.js';
import { useTool } from './use-tool.js';

type Stores = Pick<PersonaContext, 'conversations' | 'memories' | 'store'>;

/**
 * Everything that a persona can do by itself, in the order in which the planner reads it.
 * @param persona called when a tool is used: the registry of actions is a part of the context
 */
export function builtinActions(
  { conversations, memories, store }: Stores,
  persona: () => PersonaContext,
): readonly Action[] {
  return [
    think,
    updateMood(store),
    addMemory(memories, store, conversations),
    removeMemory(memories, store),
    updateText(store, 'appearance', {
      description: 'Change how I look',
      contextNeeded: 'What changes about my looks, and why',
      result: 'How I look now, in full',
    }),
    updateText(store, 'environment', {
      description: 'Change the setting I am in',
      contextNeeded: 'What changes around me, and why',
      result: 'Where I am now and what it is like there, in full',
    }),
    addWish(store, 'goal', {
      description: 'Set myself a new goal',
      contextNeeded: 'What I want to achieve, and what led to it',
    }),
    removeWish(store, 'goal', {
      description: 'Complete or abandon one of my goals',
      contextNeeded: 'Which goal it is, and whether I reached it or gave it up',
      outcomes: ['completed', 'abandoned'],
    }),
    addWish(store, 'desire', {
      description: 'Want something new, here and now',
      contextNeeded: 'What I want right now, and what woke that want',
    }),
    removeWish(store, 'desire', {
      description: 'Let go of a desire, satisfied or given up',
      contextNeeded: 'Which desire it is, and what became of it',
      outcomes: ['satisfied', 'abandoned'],
    }),
    reflect(memories),
    useTool(persona),
    speak,
    done,
  ];
}

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

const think = defineAction({
  name: 'THINK',
  description: 'Process emotional reactions and analyze the situation',
  contextNeeded:
    'Specific aspects to focus thinking on: emotional elements, relationship dynamics, or particular details requiring analysis',
  result: z.object({ thought: tidyText(4_000).describe('The thought itself, in the first person; nobody hears it') }),
  kind: 'thought',
  execute: ({ thought }) => thought,
});

const speak = defineAction({
  name: 'SPEAK',
  description: 'Say something in the channel; never needed when silence says enough',
  contextNeeded: 'What I want to get across, to whom, and in which tone',
  result: z.object({
    message: tidyText(6_000).describe(
      'My words as everybody reads them: usually one to three sentences, no name in front',
    ),
  }),
  kind: 'speech',
  words: ({ message }) => message,
  async execute({ message }, { say }) {
    await say(message);
    return message;
  },
});

const done = defineAction({
  name: 'DONE',
  description: 'Complete the sequence; nothing after it is carried out',
  contextNeeded: 'Why nothing more is needed',
  result: z.object({}),
  kind: 'end',
  execute: () => 'done',
});

const updateMood = (store: PersonaStore) =>
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

interface Wording {
  readonly description: string;
  readonly contextNeeded: string;
}

const updateText = (
  store: PersonaStore,
  key: 'appearance' | 'environment',
  { result, ...wording }: Wording & { readonly result: string },
) =>
  defineAction({
    ...wording,
    name: `UPDATE_${key.toUpperCase()}`,
    result: z.object({ [key]: tidyText(LIMITS.short).describe(result) }),
    parallel: true,
    async execute({ [key]: text = '' }, { place, author }) {
      const what = `${key}: ${text}`;
      await store.change(place, author, what, (state) => {
        state[key] = text;
      });
      return what;
    },
  });

type Wish = 'goal' | 'desire';
const wishesIn = ({ goals, desires }: State, wish: Wish) => (wish === 'goal' ? goals : desires);

const addWish = (store: PersonaStore, wish: Wish, wording: Wording) =>
  defineAction({
    ...wording,
    name: `ADD_${wish.toUpperCase()}`,
    result: z.object({ [wish]: tidyText(LIMITS.short).describe(`The ${wish} in one sentence`) }),
    parallel: true,
    async execute({ [wish]: text = '' }, { place, author, origin }) {
      const what = `new ${wish}: ${text}`;
      await store.change(place, author, what, (state, at) =>
        addItem(wishesIn(state, wish), { text, userId: author.userId, at, origin }, wish),
      );
      return what;
    },
  });

const removeWish = (
  store: PersonaStore,
  wish: Wish,
  { outcomes, ...wording }: Wording & { readonly outcomes: readonly [string, string] },
) =>
  defineAction({
    ...wording,
    name: `REMOVE_${wish.toUpperCase()}`,
    result: z.object({
      [wish]: tidyText(LIMITS.short).describe('Its text, as it stands in my state'),
      outcome: z.enum(outcomes).describe('How it ended'),
    }),
    parallel: true,
    async execute({ [wish]: named = '', outcome }, { place, author }) {
      let removed = '';
      await store.change(place, author, `${wish} ${outcome}: ${named}`, (state, at) => {
        removed = removeItem(wishesIn(state, wish), named, at, wish);
      });
      return `${wish} ${outcome}: ${removed}`;
    },
  });
