import type { PersonaTrigger } from '@cinnabar/sdk';
import type { Answer, Ask } from '../running/ask.js';
import { type Plan, planSchema } from './plan.js';

export interface Planner {
  /** What to do about what has happened. */
  plan(): Promise<Answer<Plan>>;
  /** What to do beside, now that some of it is done. */
  extend(): Promise<Answer<Plan>>;
}

export interface PlannerParts {
  readonly ask: Ask;
  readonly system: string;
  readonly trigger: PersonaTrigger;
  situation(question: string): Promise<string>;
}

/** One call plans several actions, and may carry their results. */
export function createPlanner({ ask, system, trigger, situation }: PlannerParts): Planner {
  return {
    plan: async () =>
      ask({ name: 'plan', schema: planSchema, system, situation: await situation(QUESTIONS[trigger.type]) }),
    extend: async () =>
      ask({
        name: 'extension',
        schema: planSchema,
        system,
        situation: await situation(
          'I have done what stands in <done>, and the rest of my plan is still to come. Which actions, if any, do I add at its end? An empty list adds none; can_extend says whether I want to be asked again.',
        ),
      }),
  };
}

const QUESTIONS: Readonly<Record<PersonaTrigger['type'], string>> = {
  user_input: 'What do I do next?',
  tool_result: 'What do I do next? Whoever asked may have seen the result already.',
  timer: 'Do I do anything of my own accord? Mostly I do not speak.',
  self_reflection:
    'What follows from it for me? I use REFLECT to keep what I conclude; there is mostly no need to speak.',
  reaction: 'What do I make of it? There is mostly no need to speak.',
  member_joined: 'Do I welcome them, and how?',
};
