import { type ModelTool, withinLimit, z } from '@cinnabar/sdk';
import type { Rules } from '../settings.js';
import { type Call, pingedIn, type Task } from '../task.js';
import { changeCall, endCall, markFinished, settleCall } from './complete-step.js';
import { Interrupted, type RunControl, type TaskContext, until } from './run-control.js';
import { say } from './speech.js';

const MINUTE_MS = 60_000;
const HEAR_FIRST =
  'Not yet: you were told something meanwhile. Read it first, then complete the task when it still is.';

interface ControlScene {
  readonly context: TaskContext;
  readonly control: RunControl;
  readonly task: Task;
  readonly call: Call;
  readonly rules: Rules;
}

/** Carries out one of the calls by which the model steers its task. */
export async function callControl(scene: ControlScene, name: ControlName): Promise<void> {
  const { context, control, task, call, rules } = scene;
  switch (name) {
    case 'task_complete': {
      const read = CONTROL.task_complete.schema.safeParse(call.input);
      if (!read.success) return refuse(scene, read.error);
      if (task.inbox !== undefined) {
        await context.journal.note(task.id, endCall(call.id, 'held', HEAR_FIRST, rules));
        return;
      }
      const complete = changeCall(call.id, (draft) => settleCall(draft, 'told', 'The task is complete.'));
      return markFinished(context, task.id, 'completed', { kind: 'complete', text: read.data.summary }, complete);
    }
    case 'take_note': {
      const read = CONTROL.take_note.schema.safeParse(call.input);
      if (!read.success) return refuse(scene, read.error);
      // The call itself is the note: it stays in the transcript, and whole in what is made of that.
      await context.journal.note(task.id, endCall(call.id, 'told', 'Noted.', rules));
      return;
    }
    case 'send_update': {
      const read = CONTROL.send_update.schema.safeParse(call.input);
      if (!read.success) return refuse(scene, read.error);
      const saying = { key: `call:${call.id}`, kind: 'update', text: read.data.message } as const;
      return say(context, control, task, saying, endCall(call.id, 'told', 'It was shown.', rules));
    }
    case 'wait': {
      const read = CONTROL.wait.schema.safeParse(call.input);
      if (!read.success) return refuse(scene, read.error);
      return wait(scene, read.data.minutes);
    }
    case 'ask_user': {
      const read = CONTROL.ask_user.schema.safeParse(call.input);
      if (!read.success) return refuse(scene, read.error);
      const { question, choices = [] } = read.data;
      return ask(scene, { text: question, choices });
    }
  }
}

/**
 * Asks a person, and waits: without a limit, and without taking room from other tasks. The question is written before it is asked, the answer
 * before it is acted upon, so both survive a restart.
 */
async function ask(
  { context, control, task: before, call, rules }: ControlScene,
  asked: { readonly text: string; readonly choices: readonly string[] },
): Promise<void> {
  const { journal, slots } = context;
  const { id } = before;
  let task = before;
  if (task.question === undefined || task.status !== 'waiting_user') {
    task = await journal.move(id, 'waiting_user', (draft) => {
      draft.question ??= { text: asked.text, choices: [...asked.choices] };
    });
  }
  const saying = {
    key: `ask:${call.id}`,
    kind: 'question',
    text: asked.text,
    choices: asked.choices,
    mention: pingedIn(before, rules),
  } as const;
  if (task.question?.messageIds === undefined) {
    await say(context, control, task, saying, (draft, ids) => {
      if (draft.question !== undefined) draft.question.messageIds = ids;
    });
    await context.notices.direct(task, rules, saying.key, 'question');
  }
  slots.release(id);
  const { answer, messageIds = [] } = await answered(context, control, id);
  await context.speaker.closeQuestion(task, messageIds, saying, answer);
  await journal.move(id, 'running', (draft) => {
    const { guildId, channelId } = task.actor;
    const sources = [{ guildId, channelId, userIds: [answer.byUserId] }];
    endCall(call.id, 'told', `The user answered: ${answer.text}`, rules, sources)(draft);
    delete draft.question;
  });
}

/** Waits, over restarts too, without taking room from other tasks; a word of its people ends it. */
async function wait({ context, control, task, call, rules }: ControlScene, minutes: number): Promise<void> {
  const { journal, slots, clock } = context;
  const wakeAt = call.wakeAt ?? clock.now() + minutes * MINUTE_MS;
  // Armed before it is written, so that no word slips in between.
  const woken = control.woken();
  const waiting = await journal.move(
    task.id,
    'waiting_time',
    changeCall(call.id, (draft) => {
      draft.wakeAt = wakeAt;
    }),
  );
  slots.release(task.id);
  if (waiting.inbox === undefined) {
    await withinLimit(clock, Math.max(wakeAt - clock.now(), 0), woken, control.interrupted);
    if (control.interrupted.aborted) throw new Interrupted();
  }
  const text =
    clock.now() < wakeAt
      ? 'You were called before the time was over.'
      : `It is over: it is ${isoTime(clock.now())} now.`;
  await journal.move(task.id, 'running', endCall(call.id, 'told', text, rules));
}

const isoTime = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');

async function answered({ journal }: TaskContext, control: RunControl, id: string) {
  for (;;) {
    // Armed before it is looked, so that no answer slips in between.
    const woken = control.woken();
    const question = journal.peek(id)?.question;
    if (question === undefined) throw new Interrupted();
    if (question.answer !== undefined) return { ...question, answer: question.answer };
    await until(woken, control.interrupted);
  }
}

async function refuse({ context, task, call, rules }: ControlScene, error: z.ZodError): Promise<void> {
  await context.journal.note(task.id, endCall(call.id, 'failed', `Not carried out: ${z.prettifyError(error)}`, rules));
}

const completeInput = z.object({
  summary: z.string().min(1).max(8_000).describe('What was accomplished, for the person who asked'),
});
const askInput = z.object({
  question: z.string().min(1).max(1_800).describe('A clear question'),
  choices: z
    .array(z.string().min(1).max(80))
    .min(2)
    .max(5)
    .optional()
    .describe('Answers to choose from, shown as buttons. Leave out where any answer is possible'),
});
const noteInput = z.object({ note: z.string().min(1).max(1_000).describe('What must not be forgotten') });
const updateInput = z.object({ message: z.string().min(1).max(8_000).describe('Where things stand, for people') });

/** In minutes: half a day. */
const LONGEST_WAIT = 720;
const waitInput = z.object({
  minutes: z.number().int().min(1).max(LONGEST_WAIT).describe('How long; 60 are an hour'),
  reason: z.string().min(1).max(200).describe('What you wait for, for people'),
});

/** The tools by which a task steers itself: part of its loop, and no business of the host's. */
const CONTROL = {
  task_complete: {
    schema: completeInput,
    description: 'Call this when the task is finished. Include a summary of what was accomplished.',
  },
  ask_user: {
    schema: askInput,
    description:
      'Call this when you need input from the user. Include a clear question. Work goes on when it is answered.',
  },
  take_note: {
    schema: noteInput,
    description:
      'Call this to keep something in mind for the rest of the task, word for word, however long the task takes.',
  },
  wait: {
    schema: waitInput,
    description:
      'Call this when something takes its time: you go on when it is over. It uses up none of your minutes. Look at what you wait for before and after it.',
  },
  send_update: { schema: updateInput, description: 'Call this to send a progress message without stopping work.' },
} as const;

type ControlName = keyof typeof CONTROL;

export const isControl = (name: string): name is ControlName => Object.hasOwn(CONTROL, name);

export function controlTools(): readonly ModelTool[] {
  return Object.entries(CONTROL).map(([name, { schema, description }]) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(schema, { io: 'input' }),
  }));
}
