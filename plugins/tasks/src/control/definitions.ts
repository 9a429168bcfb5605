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
