import {
  type LlmCompletion,
  type ModelTool,
  participantNames,
  type Registrar,
  type Tasks,
  type Turn,
  t,
  textMessage,
  UserError,
  withoutNotes,
  z,
} from '@cinnabar/sdk';
import type { TaskContext } from './context.js';
import { conversationBefore } from './discord/background.js';
import { begunText } from './discord/wording.js';
import { TASK_POLICY } from './permissions.js';
import { START_TOOL } from './running/execute-step.js';

const begin = z.object({
  goal: z.string().min(1).max(4_000).describe('The whole task, in one piece, with everything that was said about it'),
});
const BEGIN: ModelTool = {
  name: 'begin_task',
  description:
    'Call this when what is asked takes several steps, tools or some time. You then work on it by yourself. Answer anything else directly.',
  inputSchema: z.toJSONSchema(begin, { io: 'input' }),
};

/**
 * Registers the responders. `tasks` makes a task of every message to the bot in its channels; with `tasks-auto`, the model's first answer decides whether a
 * message becomes one. A turn ends when the task has started, so the channel's next turn is not delayed.
 */
export function registerResponders(
  { responder }: Pick<Registrar, 'responder'>,
  context: TaskContext,
  tasks: Tasks,
): void {
  responder({
    name: 'tasks',
    description: 'Makes a task of everything that is said to me',
    respond: (turn) => start(tasks, turn, turn.text),
  });
  responder({
    name: 'tasks-auto',
    description: 'Answers at once, or makes a task of it when it takes several steps',
    respond: (turn) => decide(context, tasks, turn),
  });
}

const PROMPT = (self: string) =>
  `You are ${self}, an assistant on Discord. Be brief. Never say that you will do something unless you call begin_task.`;

/** The conversation before the message, as far as the member may read it; empty if it cannot be read. */
async function conversationOf({ contexts, log }: TaskContext, { actor, message, signal }: Turn) {
  try {
    return await conversationBefore(contexts, actor, message?.id, signal);
  } catch (error) {
    log.warn('the conversation could not be read', { channelId: actor.channelId, error });
    return { lines: [], instructions: undefined };
  }
}

async function start(tasks: Tasks, { actor, message, reply }: Turn, prompt: string): Promise<void> {
  const messageId = message === null ? {} : { messageId: message.id };
  const { link } = await tasks.start({ prompt, actor, origin: 'mode', ...messageId });
  if (message === null) await reply({ content: begunText(link), notice: true });
}

async function decide(context: TaskContext, tasks: Tasks, turn: Turn): Promise<void> {
  const { llm, selfName, random } = context;
  if (llm === undefined) throw new UserError(t('No language model is set up, so I cannot answer.'));
  const self = selfName(turn.actor.guildId);
  const { id, displayName, username } = turn.user;
  const person = { id, displayName: turn.member?.displayName ?? displayName, username };
  // The name differs from the bot's, to which the member's words would otherwise be attributed.
  const { lines, instructions } = await conversationOf(context, turn);
  const others = lines.filter(({ own }) => !own);
  const known = others.find(({ source }) => source.userIds?.includes(id) === true)?.speaker;
  const taken = [self, ...others.map(({ speaker }) => speaker)];
  const participant = known ?? participantNames([person], taken).get(id) ?? username;
  const charge = {
    actor: turn.actor,
    responder: 'tasks-auto',
    trigger: t('I was asked for something'),
    work: random.id(),
  };
  const request = {
    self,
    system: [PROMPT(self), ...(instructions === undefined ? [] : [instructions])].join('\n\n'),
    messages: [
      ...lines.map(({ own, speaker, text }) => textMessage(own ? self : speaker, text)),
      textMessage(participant, withoutNotes(turn.text)),
    ],
    tools: [BEGIN],
    signal: turn.signal,
    ...(turn.deadlineAt === undefined ? {} : { deadlineAt: turn.deadlineAt }),
  };
  const messageIds: string[] = [];
  try {
    const { content } = await llm.complete({ ...request, charge });
    const said = await carryOut(tasks, turn, content);
    if (said !== undefined) messageIds.push(said.id);
  } finally {
    await llm.finishWork(charge, { messageIds });
  }
}

/** Starts the task that the model's answer requests, otherwise sends the answer. */
async function carryOut(
  tasks: Tasks,
  turn: Turn,
  content: LlmCompletion['content'],
): Promise<{ readonly id: string } | undefined> {
  const call = content.find((block) => block.type === 'tool_use');
  const goal = begin.safeParse(call?.input);
  if (call?.name === BEGIN.name && goal.success) {
    await start(tasks, turn, goal.data.goal);
    return undefined;
  }
  const text = content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
    .trim();
  if (text !== '') return turn.reply(text);
  const nothing = t('The language model had nothing to say to this. Please try to put it differently.');
  return turn.reply({ content: nothing, notice: true });
}

/** The tool with which `chat`, `persona` and other responders hand over work that takes several steps. */
export function registerStartTool({ tool }: Pick<Registrar, 'tool'>, { hasModel }: TaskContext, tasks: Tasks): void {
  tool({
    name: START_TOOL,
    description:
      'Starts a long-running task that works by itself, step by step, and reports in a thread. For what takes several steps or some time. It has only begun when this returns.',
    input: z.object({ goal: z.string().min(1).max(4_000).describe('The whole task, in one piece') }),
    risk: 'write',
    access: TASK_POLICY,
    offered: hasModel,
    examples: ['start a task: {goal}', 'take your time and {goal}'],
    present: {
      sentence: ({ goal }) => t("I'll start a task: {goal}", { goal }),
      said: ['goal'],
      action: 'Start a task',
      success: (_input, { link }: { readonly link: string | undefined }) =>
        link === undefined
          ? t('✓ The task has begun, it is not done yet: it works in this channel')
          : t('✓ The task has begun, it is not done yet: {link}', { link }),
      cancelled: () => t('Cancelled starting the task.'),
    },
    async run({ goal }, { actor }) {
      const { id, link } = await tasks.start({ prompt: goal, actor, origin: 'tool' });
      return { id, link };
    },
  });
}
