import {
  type Actor,
  type CommandContext,
  option,
  plainText,
  type Registrar,
  type TaskInfo,
  type Tasks,
  t,
  UserError,
  visible,
} from '@cinnabar/sdk';
import type { TaskContext } from './context.js';
import { begunText, figuresOfInfo, statusWords } from './discord/wording.js';
import { TASK_POLICY } from './permissions.js';
import { readableTasks } from './tasks.js';

const LISTED = 15;
const SHOWN_PROMPT = 80;

/** Registers the commands `task <goal>`, whose first word can also be an act on a task (`stop`, `pause`, …), and `tasks`. */
export function registerCommands({ command }: Pick<Registrar, 'command'>, context: TaskContext, tasks: Tasks): void {
  command({
    name: 'task',
    description: 'Give me a task to work on by myself',
    access: TASK_POLICY,
    ephemeral: true,
    help: [
      '`task <what>`: I work on it step by step, in a thread where I can, and tell you when it is done.',
      '`task stop|pause|resume [id]`: the task of this thread, else your newest one.',
      '`task continue [id] <what>`: goes on with a task that is over, with a new word. A reply to one of its messages does the same.',
      '`task approvals [id]`: what you have allowed it for good; `task revoke <number> [id]` takes one back.',
      '`tasks` lists them all.',
    ].join('\n'),
    options: { what: option.rest().describe('What to do; or stop, pause, resume, approvals, revoke') },
    examples: ['task Collect the five best-liked memes of this week', 'task stop'],
    async run(ctx, { what }) {
      const words = subcommandOf(what);
      if (words?.kind === 'continue') return ctx.reply(await continueEnded(tasks, ctx, words.text));
      if (words !== undefined) return ctx.reply(await act(context, tasks, ctx, words));
      const messageId = ctx.message === null ? {} : { messageId: ctx.message.id };
      const task = await tasks.start({ prompt: what, actor: ctx.actor, origin: 'command', ...messageId });
      if (ctx.message === null) await ctx.reply(begunText(task.link));
    },
  });
  command({
    name: 'tasks',
    description: 'List the tasks of this server, running and ended',
    ephemeral: true,
    run: async (ctx) => ctx.reply(await listOf(context, tasks, ctx)),
  });
}

async function act(
  context: TaskContext,
  tasks: Tasks,
  { actor }: CommandContext,
  words: Exclude<Subcommand, { kind: 'continue' }>,
): Promise<string> {
  const task = await chooseTask(tasks, actor, words.task);
  switch (words.kind) {
    case 'stop':
      await tasks.stop(task.id, actor);
      return t('Stopped. What was done follows.');
    case 'pause':
      await tasks.pause(task.id, actor);
      return t('It pauses as soon as it can.');
    case 'resume':
      await tasks.resume(task.id, actor);
      return t('It goes on.');
    default:
      if (task.actor.userId !== actor.userId) throw new UserError(t('Approvals are for who asked for the task.'));
      return approvalsOf(context, task.id, words.kind === 'revoke' ? Number(words.approval) : undefined);
  }
}

/** Continues a finished task: the named one, otherwise that of this thread, otherwise the member's newest here. */
async function continueEnded(tasks: Tasks, { actor, message }: CommandContext, text: string): Promise<string> {
  const [first = '', ...rest] = text.split(/\s+/);
  const all = await tasks.list({ guildId: actor.guildId });
  const named = /^[a-z0-9]{5,26}$/.test(first) ? all.filter(({ id }) => id.endsWith(first)) : [];
  const task = named.length === 1 ? named[0] : chooseEnded(all, actor);
  if (task === undefined) throw new UserError(t('You have no task here that is over. `tasks` lists all of them.'));
  const words = named.length === 1 ? rest.join(' ') : text;
  const messageId = message === null ? {} : { messageId: message.id };
  await tasks.continue(task.id, { text: words === '' ? 'Please go on.' : words, ...messageId }, actor);
  return t('It goes on.');
}

/** Lists the approvals that hold for a whole task, or revokes one. */
async function approvalsOf({ approvals }: TaskContext, taskId: string, revoked: number | undefined): Promise<string> {
  if (approvals === undefined)
    throw new UserError(t('Nothing asks for approvals here: the plugin `confirm` is not loaded.'));
  const given = await approvals.list(taskId);
  if (revoked !== undefined) {
    const chosen = given[revoked - 1];
    if (chosen === undefined || !(await approvals.revoke(taskId, chosen.id))) {
      throw new UserError(t('There is no approval of that number. `task approvals` lists them.'));
    }
    return t('Taken back: {allowed}', { allowed: plainText(visible(chosen.pattern)) });
  }
  if (given.length === 0) return t('Nothing has been allowed for the whole of this task.');
  return given.map(({ pattern }, index) => `${index + 1}. ${plainText(visible(pattern))}`).join('\n');
}

async function listOf(context: TaskContext, tasks: Tasks, ctx: CommandContext): Promise<string> {
  const { actor } = ctx;
  const own = await readableTasks(context, tasks, actor);
  if (own.length === 0) return t('There are no tasks here.');
  // A reply is visible to everyone in the channel, so others' tasks are listed only if all of them may know.
  const isForAll = ({ channelId }: Actor) => context.provenance.mayTell([{ guildId: actor.guildId, channelId }], actor);
  const all = ctx.message === null ? own : own.filter((task) => isForAll(task.actor));
  const more = all.length > LISTED ? [t('… and {count} more', { count: all.length - LISTED })] : [];
  const hidden = own.length - all.length;
  const apart =
    hidden === 0
      ? []
      : [t('{hidden} of other channels are not for everybody here: `/tasks` shows them to you alone.', { hidden })];
  return [...all.slice(0, LISTED).map(lineOf), ...more, ...apart].join('\n');
}

function lineOf(task: TaskInfo): string {
  const { id, status, place, originalPrompt, link, currentTool } = task;
  const prompt = originalPrompt.replaceAll(/\s+/g, ' ');
  const cut = prompt.length <= SHOWN_PROMPT ? prompt : `${prompt.slice(0, SHOWN_PROMPT)}…`;
  return `\`${id.slice(-5)}\` ${statusWords(status, place, currentTool)}: ${plainText(visible(cut))} · ${figuresOfInfo(task)}${link === undefined ? '' : ` · ${link}`}`;
}

const ENDED = new Set(['completed', 'cancelled', 'error']);

/** Chooses a task by the end of its id; otherwise that of this thread, otherwise the member's newest here. @throws UserError */
async function chooseTask(tasks: Tasks, actor: Actor, label: string | undefined): Promise<TaskInfo> {
  const all = await tasks.list({ guildId: actor.guildId });
  if (label !== undefined) {
    const named = all.filter(({ id }) => id.endsWith(label));
    if (named[0] !== undefined && named.length === 1) return named[0];
    throw new UserError(t('There is no task "{label}" here. `tasks` lists them.', { label }));
  }
  const open = all.filter(({ status }) => !ENDED.has(status));
  const here = open.filter(({ channelId }) => channelId === actor.channelId);
  const inThread = here.find(({ actor: who, channelId }) => who.channelId !== channelId);
  const own = [...here, ...open].find(({ actor: who }) => who.userId === actor.userId);
  const chosen = inThread ?? own;
  if (chosen === undefined) throw new UserError(t('You have no open task here. `tasks` lists all of them.'));
  return chosen;
}

/** A finished task: that of the actor's thread, otherwise the actor's newest in the channel, otherwise the newest. */
function chooseEnded(all: readonly TaskInfo[], { userId, channelId }: Actor): TaskInfo | undefined {
  const over = all.filter(({ status }) => ENDED.has(status));
  const inThread = over.find((task) => task.channelId === channelId && task.actor.channelId !== channelId);
  const own = over.filter((task) => task.actor.userId === userId);
  return inThread ?? own.find((task) => task.actor.channelId === channelId) ?? own[0];
}

/** A command that acts on a task instead of starting one. */
type Subcommand =
  | {
      readonly kind: 'stop' | 'pause' | 'resume' | 'approvals' | 'revoke';
      /** The end of a task's id. */
      readonly task: string | undefined;
      /** For `revoke`: its number in the list of `approvals`. */
      readonly approval: string | undefined;
    }
  /** The words after `continue`: an instruction for the task, after the end of its id if one is given. */
  | { readonly kind: 'continue'; readonly text: string };

const CONTROL = /^(stop|pause|resume|approvals)(?:\s+([a-z0-9]{5,26}))?$/;
const REVOKE = /^revoke\s+(\d{1,3})(?:\s+([a-z0-9]{5,26}))?$/;
const CONTINUE = /^continue(?:\s+([\s\S]+))?$/;

/** Only these exact forms, in lower case, are commands: `!task Stop the music at ten` is a task. */
function subcommandOf(text: string): Subcommand | undefined {
  const words = text.trim();
  const [, kind, task] = CONTROL.exec(words) ?? [];
  if (kind === 'stop' || kind === 'pause' || kind === 'resume' || kind === 'approvals') {
    return { kind, task, approval: undefined };
  }
  const more = CONTINUE.exec(words);
  if (more !== null) return { kind: 'continue', text: (more[1] ?? '').trim() };
  const [, approval, of] = REVOKE.exec(words) ?? [];
  return approval === undefined ? undefined : { kind: 'revoke', approval, task: of };
}
