import {
  type Actor,
  type Registrar,
  type TaskInfo,
  type Tasks,
  t,
  translated,
  UserError,
  type WebBlock,
  type WebButton,
  type WebRequest,
  type WebRow,
  type WebStep,
  type WebTone,
  webAct,
  z,
} from '@cinnabar/sdk';
import type { TaskContext } from './context.js';
import { outcomeWord, runningCalls, statusWords } from './discord/wording.js';
import { assertMay, TASK_POLICY } from './permissions.js';
import { redactForPeople } from './prompt/redaction.js';
import { type Entry, isFinal, labelOf, type Task } from './task.js';
import { readableTasks } from './tasks.js';

const PAGE = 'tasks/tasks';
const MOST = 200;
const SHOWN_PROMPT = 200;

const one = z.object({ task: z.string() });
const words = z.object({ task: z.string(), text: z.string().min(1).max(4_000) });

/** The dashboard page of a guild's tasks: their state, their steps, and the actions on them. */
export function registerPage({ page }: Pick<Registrar, 'page'>, context: TaskContext, tasks: Tasks): void {
  const list = async ({ actor }: WebRequest): Promise<readonly WebBlock[]> => {
    const readable = await readableTasks(context, tasks, actor);
    return [
      {
        kind: 'table',
        columns: [
          { name: t('Task') },
          { name: t('What') },
          { name: t('For') },
          { name: t('State') },
          { name: t('Steps'), numeric: true },
          { name: t('Begun') },
          { name: t('Cost'), numeric: true },
        ],
        rows: readable.slice(0, MOST).map(rowOf),
        empty: t('There are no tasks here. `task <what>` gives the bot one.'),
      },
      {
        kind: 'form',
        act: 'start',
        title: t('Give it a task'),
        text: t(
          'It works by itself, step by step, in the channel that you choose, and asks there where it needs somebody.',
        ),
        fields: [
          { name: 'text', label: t('What to do'), control: { kind: 'text', lines: 3 } },
          { name: 'channel', label: t('Channel'), control: { kind: 'channel' } },
        ],
        submit: t('Begin'),
      },
    ];
  };

  page({
    name: 'tasks',
    title: 'Tasks',
    description: 'What the bot works on by itself.',
    about: 'guild',
    group: 'agents',
    access: { command: 'tasks' },
    async view(request) {
      const { task: id } = request.query;
      if (id === undefined) return { blocks: await list(request) };
      const info = await seen(context, tasks, id, request.actor);
      return {
        title: t('Task {task}', { task: labelOf(info) }),
        blocks: [...standing(info), ...(await details(context, info, request.actor))],
      };
    },
    watch: (_, changed) => {
      const ends = [tasks.onUpdate(changed), tasks.onMessage(changed)];
      return () => {
        for (const end of ends) end();
      };
    },
    async card({ actor }) {
      const open = (await readableTasks(context, tasks, actor)).filter(({ status }) => !isFinal(status));
      return [
        {
          kind: 'table',
          columns: [{ name: t('What') }, { name: t('State') }],
          rows: open
            .slice(0, 5)
            .map((info) => ({ id: info.id, cells: [short(info.originalPrompt), badgeOf(info)], link: linkTo(info) })),
          empty: t('No task is under way.'),
        },
      ];
    },
    acts: {
      start: webAct({
        effect: 'changes',
        input: z.object({ text: z.string(), channel: z.string().min(1) }),
        access: { command: 'task' },
        async run({ text, channel }, { actor }) {
          const { guildId } = actor;
          if (!(await context.access.mayEnter(actor, { guildId, channelId: channel }, ['SendMessages'])))
            throw new UserError(t('There is no such channel that you and I can write in.'));
          const info = await tasks.start({ prompt: text, actor: { ...actor, channelId: channel }, origin: 'web' });
          return { said: t('I have begun.'), goTo: linkTo(info) };
        },
      }),
      stop: webAct({
        effect: 'destroys',
        question: () => t('Stop this task? What it has done stays, and it can be told to go on later.'),
        input: one,
        access: TASK_POLICY,
        async run({ task }, { actor }) {
          await tasks.stop(task, actor);
          return t('Stopped. What was done follows.');
        },
      }),
      pause: webAct({
        effect: 'changes',
        input: one,
        access: TASK_POLICY,
        async run({ task }, { actor }) {
          await tasks.pause(task, actor);
          return t('It pauses as soon as it can.');
        },
      }),
      resume: webAct({
        effect: 'changes',
        input: one,
        access: TASK_POLICY,
        async run({ task }, { actor }) {
          await tasks.resume(task, actor);
          return t('It goes on.');
        },
      }),
      answer: webAct({
        effect: 'changes',
        input: words,
        access: TASK_POLICY,
        async run({ task, text }, { actor }) {
          await tasks.answer(task, text, actor);
          return t('Answered.');
        },
      }),
      say: webAct({
        effect: 'changes',
        input: words,
        access: TASK_POLICY,
        async run({ task, text }, { actor }) {
          await tasks.continue(task, { text }, actor);
          return t('It hears that at its next step.');
        },
      }),
      revoke: webAct({
        effect: 'destroys',
        question: () => t('Take this approval back? The task then asks again before it does that.'),
        input: z.object({ task: z.string(), approval: z.string() }),
        access: TASK_POLICY,
        async run({ task, approval }, { actor }) {
          const info = await tasks.get(task);
          if (info?.actor.userId !== actor.userId) throw new UserError(t('Approvals are for who asked for the task.'));
          if ((await context.approvals?.revoke(task, approval)) !== true)
            throw new UserError(t('There is no approval of that number. `task approvals` lists them.'));
          return t('Taken back.');
        },
      }),
    },
  });
}

/** @throws UserError without such a task that the person may see */
async function seen(context: TaskContext, tasks: Tasks, id: string, actor: Actor): Promise<TaskInfo> {
  const info = (await readableTasks(context, tasks, actor)).find((task) => task.id === id);
  if (info === undefined) throw new UserError(t('There is no such task.'));
  return info;
}

const linkTo = ({ id }: Pick<TaskInfo, 'id'>) => ({ page: PAGE, query: { task: id } });

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= SHOWN_PROMPT ? line : `${line.slice(0, SHOWN_PROMPT)}…`;
};

const TONES: Readonly<Record<TaskInfo['status'], WebTone>> = {
  queued: 'plain',
  running: 'busy',
  thinking: 'busy',
  tool_executing: 'busy',
  waiting_approval: 'warning',
  waiting_user: 'warning',
  waiting_time: 'plain',
  paused: 'plain',
  completed: 'good',
  cancelled: 'plain',
  error: 'bad',
};

const badgeOf = ({ status, place, currentTool }: TaskInfo) =>
  ({ badge: statusWords(status, place, currentTool), tone: TONES[status] }) as const;

function rowOf(info: TaskInfo): WebRow {
  const { id, actor, originalPrompt, stepCount, startedAt, endedAt, cost } = info;
  return {
    id,
    cells: [
      { code: labelOf(info) },
      short(originalPrompt),
      { user: actor.userId },
      badgeOf(info),
      { count: stepCount, link: linkTo(info) },
      { time: startedAt },
      cost === null ? t('not known') : { usd: cost },
    ],
    link: linkTo(info),
    ...(endedAt === undefined ? {} : { changedAt: endedAt }),
    buttons: isFinal(info.status) ? [] : [stopButton(info)],
  };
}

const stopButton = ({ id }: TaskInfo): WebButton => ({
  act: 'stop',
  label: t('Stop'),
  tone: 'danger',
  input: { task: id },
});

/** The state of a task, and the acts on it that are possible now. */
function standing(info: TaskInfo): readonly WebBlock[] {
  const {
    id,
    actor,
    channelId,
    cost,
    ending,
    endedAt,
    link,
    originalPrompt,
    pendingQuestion,
    startedAt,
    status,
    stepCount,
    tokens,
    unknowns,
    workedMs,
  } = info;
  const over = isFinal(status);
  const held = status === 'paused';
  const toggle: WebButton = held
    ? { act: 'resume', label: t('Resume'), input: { task: id } }
    : { act: 'pause', label: t('Pause'), input: { task: id } };
  return [
    { kind: 'text', text: originalPrompt },
    ...(over ? [] : [{ kind: 'buttons', buttons: [stopButton(info), toggle] } as const]),
    ...(pendingQuestion === undefined ? [] : questionBlocks(id, pendingQuestion)),
    ...(ending === undefined
      ? []
      : [{ kind: 'notice', tone: status === 'completed' ? 'good' : 'warning', text: ending } as const]),
    ...unknowns.map(
      (text) =>
        ({
          kind: 'notice',
          tone: 'bad',
          text: t('It is not known whether this took effect: {what}', { what: text }),
        }) as const,
    ),
    {
      kind: 'facts',
      facts: [
        { name: t('State'), value: badgeOf(info) },
        { name: t('For'), value: { user: actor.userId } },
        { name: t('Channel'), value: { channel: channelId } },
        ...(link === undefined
          ? []
          : [{ name: t('Message'), value: { link: { discord: link }, text: t('Show it in Discord') } }]),
        { name: t('Steps'), value: { count: stepCount, link: linkTo(info) } },
        { name: t('Worked'), value: { durationMs: workedMs } },
        { name: t('Tokens'), value: { measure: tokens } },
        { name: t('Cost'), value: cost === null ? t('not known') : { usd: cost } },
        { name: t('Begun'), value: { time: startedAt } },
        ...(endedAt === undefined ? [] : [{ name: t('Ended'), value: { time: endedAt } }]),
      ],
    },
    {
      kind: 'form',
      act: 'say',
      input: { task: id },
      fields: [
        { name: 'text', label: over ? t('Go on with') : t('Tell it something'), control: { kind: 'text', lines: 2 } },
      ],
      submit: over ? t('Continue') : t('Say it'),
    },
  ];
}

/** An answer can be typed only while a question is open. */
const questionBlocks = (
  task: string,
  { text, choices }: NonNullable<TaskInfo['pendingQuestion']>,
): readonly WebBlock[] => [
  { kind: 'notice', tone: 'warning', text },
  ...(choices.length === 0
    ? []
    : [
        {
          kind: 'buttons',
          buttons: choices.map((choice) => ({ act: 'answer', label: choice, input: { task, text: choice } })),
        } as const,
      ]),
  {
    kind: 'form',
    act: 'answer',
    input: { task },
    fields: [{ name: 'text', label: t('Your answer'), control: { kind: 'text' } }],
    submit: t('Answer'),
  },
];

/** The steps of a task if the person may see its details, otherwise none. */
async function details(context: TaskContext, { id }: TaskInfo, actor: Actor): Promise<readonly WebBlock[]> {
  const task = await context.journal.find(id);
  if (task === undefined) return [];
  try {
    await assertMay(context, task, actor, 'controlTier', 'see its details');
  } catch (error) {
    if (error instanceof UserError) return [{ kind: 'text', text: error.message }];
    throw error;
  }
  const shown = await redactForPeople(task, (sources) => context.provenance.mayShow(sources, [actor]));
  const given = actor.userId === task.actor.userId ? ((await context.approvals?.list(id)) ?? []) : [];
  return [
    { kind: 'steps', title: t('What it has done'), steps: stepsOf(shown), empty: t('No tool has been called yet.') },
    ...(given.length === 0
      ? []
      : [
          {
            kind: 'table',
            title: t('Allowed for the whole task'),
            columns: [{ name: t('What') }, { name: t('Since') }],
            rows: given.map(
              ({ id: approval, pattern, at }): WebRow => ({
                id: approval,
                cells: [pattern, { time: at }],
                buttons: [
                  {
                    act: 'revoke',
                    label: t('Take back'),
                    tone: 'danger',
                    input: { task: id, approval },
                  },
                ],
              }),
            ),
            empty: '',
          } as const,
        ]),
  ];
}

/** Tool calls with their results, and the text between them, in the order of the steps. */
function stepsOf(task: Task): readonly WebStep[] {
  const said = task.entries.flatMap((entry, index) => textOf(entry, index));
  const calls = [...task.log, ...runningCalls(task)].map(
    ({ n, tool, input, outcome, result }, index): WebStep & { readonly n: number } => ({
      n,
      id: `call-${index}`,
      title: `${n}. ${tool}: ${outcomeWord(outcome)}`,
      tone: outcome === 'done' || outcome === 'told' ? 'good' : outcome === 'under way' ? 'busy' : 'warning',
      blocks: [
        { kind: 'code', title: t('Arguments'), text: input },
        { kind: 'code', title: t('Result'), text: translated(result) },
      ],
    }),
  );
  return [...said, ...calls].sort((a, b) => a.n - b.n);
}

function textOf(entry: Entry, index: number): readonly (WebStep & { readonly n: number })[] {
  if (entry.kind !== 'step' || entry.text === '') return [];
  return [
    {
      n: entry.n,
      id: `text-${index}`,
      title: `${entry.n}. ${short(entry.text)}`,
      tone: 'plain',
      blocks: [{ kind: 'text', text: entry.text }],
    },
  ];
}
