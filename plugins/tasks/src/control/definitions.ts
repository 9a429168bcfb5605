import { type ModelTool, z } from '@cinnabar/sdk';

const complete = z.object({
  summary: z.string().min(1).max(8_000).describe('What was accomplished, for the person who asked'),
});
const ask = z.object({
  question: z.string().min(1).max(1_800).describe('A clear question'),
  choices: z
    .array(z.string().min(1).max(80))
    .min(2)
    .max(5)
    .optional()
    .describe('Answers to choose from, shown as buttons. Leave out where any answer is possible'),
});
const note = z.object({ note: z.string().min(1).max(1_000).describe('What must not be forgotten') });
const update = z.object({ message: z.string().min(1).max(8_000).describe('Where things stand, for people') });

/** In minutes: half a day. */
const LONGEST_WAIT = 720;
const wait = z.object({
  minutes: z.number().int().min(1).max(LONGEST_WAIT).describe('How long; 60 are an hour'),
  reason: z.string().min(1).max(200).describe('What you wait for, for people'),
});

/** The tools by which a task steers itself: part of its loop, and no business of the host's. */
export const CONTROL = {
  task_complete: {
    schema: complete,
    description: 'Call this when the task is finished. Include a summary of what was accomplished.',
  },
  ask_user: {
    schema: ask,
    description:
      'Call this when you need input from the user. Include a clear question. Work goes on when it is answered.',
  },
  take_note: {
    schema: note,
    description:
      'Call this to keep something in mind for the rest of the task, word for word, however long the task takes.',
  },
  wait: {
    schema: wait,
    description:
      'Call this when something takes its time: you go on when it is over. It uses up none of your minutes. Look at what you wait for before and after it.',
  },
  send_update: { schema: update, description: 'Call this to send a progress message without stopping work.' },
} as const;

export type ControlName = keyof typeof CONTROL;

export const isControl = (name: string): name is ControlName => Object.hasOwn(CONTROL, name);

export function controlTools(): readonly ModelTool[] {
  return Object.entries(CONTROL).map(([name, { schema, description }]) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(schema, { io: 'input' }),
  }));
}
