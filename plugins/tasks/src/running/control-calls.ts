import { type ModelTool, withinLimit, z } from '@cinnabar/sdk';
import { Interrupted, type Rules, type RunControl, say, type TaskContext, until } from '../context.js';
import { type Call, pingedIn, type Task } from '../task.js';
import { changeCall, completeCall, endCall, markFinished } from './complete-step.js';

const MINUTE_MS = 60_000;
const HEAR_FIRST =
  'Not yet: you were told something meanwhile. Read it first, then complete the task when it still is.';

interface ControlRun {
  readonly context: TaskContext;
  readonly control: RunControl;
  readonly task: Task;
  readonly call: Call;
  readonly rules: Rules;
}

/** Executes one of the calls by which the model controls its task. */
export async function runControlCall(run: ControlRun, name: ControlName): Promise<void> {
  const { context, control, task, call, rules } = run;
  const complete = async (outcome: NonNullable<Call['outcome']>, result: string) =>
    void (await context.journal.note(task.id, completeCall(call.id, { outcome, result }, rules)));
  const refuse = (error: z.ZodError) => complete('failed', `Not carried out: ${z.prettifyError(error)}`);
  switch (name) {
    case 'task_complete': {
      const read = CONTROL.task_complete.schema.safeParse(call.input);
      if (!read.success) return refuse(read.error);
      if (task.inbox !== undefined) return complete('held', HEAR_FIRST);
      const ended = endCall(call.id, { outcome: 'told', result: 'The task is complete.' });
      return markFinished(context, task.id, 'completed', { kind: 'complete', text: read.data.summary }, ended);
    }
    case 'take_note': {
      const read = CONTROL.take_note.schema.safeParse(call.input);
      // The note is the call itself: it stays in the transcript, and compaction keeps it whole.
      return read.success ? complete('told', 'Noted.') : refuse(read.error);
    }
    case 'send_update': {
      const read = CONTROL.send_update.schema.safeParse(call.input);
      if (!read.success) return refuse(read.error);
      const update = { key: `call:${call.id}`, kind: 'update', text: read.data.message } as const;
      return say(
        context,
        control,
        task,
        update,
        completeCall(call.id, { outcome: 'told', result: 'It was shown.' }, rules),
      );
    }
    case 'wait': {
      const read = CONTROL.wait.schema.safeParse(call.input);
      return read.success ? wait(run, read.data.minutes) : refuse(read.error);
    }
    case 'ask_user': {
      const read = CONTROL.ask_user.schema.safeParse(call.input);
      return read.success ? ask(run, read.data.question, read.data.choices ?? []) : refuse(read.error);
    }
  }
}

/**
 * Asks a person, and waits without a time limit and without a slot. The question is written before it is sent, the answer before it is used, so both survive a
 * restart.
 */
async function ask(
  { context, control, task: before, call, rules }: ControlRun,
  text: string,
  choices: readonly string[],
): Promise<void> {
  const { journal, slots, speaker } = context;
  const { id } = before;
  let task = before;
  if (task.question === undefined || task.status !== 'waiting_user') {
    task = await journal.move(id, 'waiting_user', (draft) => {
      draft.question ??= { text, choices: [...choices] };
    });
  }
  const message = {
    key: `ask:${call.id}`,
    kind: 'question',
    text,
    choices,
    mention: pingedIn(before, rules),
  } as const;
  if (task.question?.messageIds === undefined) {
    await say(context, control, task, message, (draft, ids) => {
      if (draft.question !== undefined) draft.question.messageIds = ids;
    });
    await speaker.notify(task, rules, message.key, 'question');
  }
  slots.release(id);
  const { answer, messageIds = [] } = await answered(context, control, id);
  await speaker.closeQuestion(task, messageIds, message, answer);
  await journal.move(id, 'running', (draft) => {
    const { guildId, channelId } = task.actor;
    const sources = [{ guildId, channelId, userIds: [answer.byUserId] }];
    completeCall(call.id, { outcome: 'told', result: `The user answered: ${answer.text}`, sources }, rules)(draft);
    delete draft.question;
  });
}

async function answered({ journal }: TaskContext, control: RunControl, id: string) {
  for (;;) {
    // Listens before the check, so that no answer is missed in between.
    const woken = control.woken();
    const question = journal.peek(id)?.question;
    if (question === undefined) throw new Interrupted();
    if (question.answer !== undefined) return { ...question, answer: question.answer };
    await until(woken, control.interrupted);
  }
}

/** Waits without a slot, also across restarts; a message to the task ends the wait. */
async function wait({ context, control, task, call, rules }: ControlRun, minutes: number): Promise<void> {
  const { journal, slots, clock } = context;
  const wakeAt = call.wakeAt ?? clock.now() + minutes * MINUTE_MS;
  // Listens before the write, so that no message is missed in between.
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
  const time = new Date(clock.now()).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');
  const result = clock.now() < wakeAt ? 'You were called before the time was over.' : `It is over: it is ${time} now.`;
  await journal.move(task.id, 'running', completeCall(call.id, { outcome: 'told', result }, rules));
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

/** Maximum number of minutes: twelve hours. */
const LONGEST_WAIT = 720;
const waitInput = z.object({
  minutes: z.number().int().min(1).max(LONGEST_WAIT).describe('How long; 60 are an hour'),
  reason: z.string().min(1).max(200).describe('What you wait for, for people'),
});

/** The tools by which a task controls itself. They are part of the loop, and not registered at the host. */
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
