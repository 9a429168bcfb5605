import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import {
  callTools,
  type ModelScript,
  type ModelStep,
  type ReplyStep,
  type ScriptedLlm,
  scriptedLlm,
} from '@cinnabar/local-models';
import {
  type Actor,
  defined,
  definePlugin,
  type Plugin,
  SettingsCatalog,
  type TaskInfo,
  type TaskMessage,
  Tasks,
  type ToolContext,
  UserError,
  z,
} from '@cinnabar/sdk';
import { createModelPerTest } from '../../support/model-per-test.js';
import { useSharedHost } from '../../support/shared-host.js';

/** A tool call of the harness. */
export interface Deed {
  readonly tool: string;
  readonly what: string;
  readonly key: string;
}

export interface TaskHarness extends AsyncDisposable {
  readonly host: TestHost;
  readonly llm: ScriptedLlm;
  readonly tasks: Tasks;
  readonly deeds: readonly Deed[];
  /** All messages of tasks, as other surfaces receive them. */
  readonly messages: readonly TaskMessage[];
  actor(user?: LocalUser): Actor;
  /** Starts a task by command. Resolves when it has begun. */
  give(prompt: string, user?: LocalUser): Promise<TaskInfo>;
  /** Resolves as soon as the task satisfies the condition. */
  when(id: string, is: (task: TaskInfo) => boolean): Promise<TaskInfo>;
  /** Resolves when the task has ended and its result is posted. */
  over(id: string): Promise<TaskInfo>;
  /** The thread of a task. */
  thread(id: string): Promise<LocalChannel>;
  /** The bot's messages in a channel, oldest first. */
  said(channel: LocalChannel): readonly LocalMessage[];
  /** The latest message that contains a text. */
  saying(channel: LocalChannel, text: string): LocalMessage;
  configure(key: string, value: string): Promise<void>;
}

interface TaskHarnessOptions extends Partial<TestHostOptions> {
  readonly steps?: readonly ModelStep[] | ModelScript;
  /** Called in every tool run. */
  readonly onDeed?: (deed: Deed, context: ToolContext) => unknown;
  readonly deeds?: Deed[];
  /** Default: steps follow each other without a pause. */
  readonly stepDelayMs?: number;
}

const ENDED = new Set(['completed', 'cancelled', 'error']);
export const isOver = ({ status }: TaskInfo): boolean => ENDED.has(status);

/** A host with tasks, confirmations, a scripted model, and tools: `look` reads, `send_note` writes, `ring` is idempotent. */
export async function openTaskHarness(options: TaskHarnessOptions = {}): Promise<TaskHarness> {
  const { steps, onDeed, deeds = [], stepDelayMs, plugins = [], ...rest } = options;
  const llm = scriptedLlm(steps);
  const office = createOffice();
  office.open({ deeds, ...defined({ onDeed }) });
  const host = await createTestHost({ ...rest, plugins: ['confirm', 'tasks', llm, office.plugin, ...plugins] });
  return harnessOf(host, llm, deeds, stepDelayMs);
}

/**
 * One host for the tests of a file: see `useSharedHost`.
 * @param plugins in addition to those of `openTaskHarness`
 * @returns opens a harness in a guild of its own, with a model and tools of its own
 */
export function useTaskHost(
  plugins: readonly string[] = [],
): (options?: Pick<TaskHarnessOptions, 'steps' | 'onDeed' | 'stepDelayMs'>) => Promise<TaskHarness> {
  const models = createModelPerTest();
  const office = createOffice();
  const enter = useSharedHost(() => ({
    plugins: ['confirm', 'tasks', models.plugin, office.plugin, ...plugins],
  }));
  return async ({ steps = [], onDeed, stepDelayMs } = {}) => {
    const deeds: Deed[] = [];
    office.open({ deeds, ...defined({ onDeed }) });
    return harnessOf(await enter(), models.next(steps), deeds, stepDelayMs);
  };
}

async function harnessOf(
  host: TestHost,
  llm: ScriptedLlm,
  deeds: readonly Deed[],
  stepDelayMs = 0,
): Promise<TaskHarness> {
  const service = () => host.resolve(Tasks);
  const actor = (user = host.alice): Actor => ({
    userId: user.id,
    guildId: host.guild.id,
    channelId: host.general.id,
  });
  const configure = async (key: string, value: string) => {
    await host.resolve(SettingsCatalog).set('tasks', key, value, actor(host.you));
  };
  await configure('stepDelayMs', String(stepDelayMs));
  const messages: TaskMessage[] = [];
  service().onMessage((message) => messages.push(message));

  const when: TaskHarness['when'] = async (id, is) => {
    const tasks = service();
    return new Promise<TaskInfo>((resolve, reject) => {
      const look = (task: TaskInfo | undefined) => {
        if (task === undefined || task.id !== id || !is(task)) return;
        stop();
        resolve(task);
      };
      const stop = tasks.onUpdate(look);
      tasks.get(id).then(look, reject);
    });
  };
  const said = (channel: LocalChannel) => channel.messages.filter(({ author }) => author.id === host.bot.id);
  return {
    host,
    llm,
    get tasks() {
      return service();
    },
    deeds,
    messages,
    actor,
    async give(prompt, user = host.alice) {
      const begun = new Promise<TaskInfo>((resolve) => {
        const stop = service().onUpdate((task) => {
          if (task.originalPrompt !== prompt || task.link === undefined) return;
          stop();
          resolve(task);
        });
      });
      user.say(host.general, `!task ${prompt}`);
      return begun;
    },
    when,
    async over(id) {
      await when(id, isOver);
      await host.settled();
      // The last edit of the status message waits for its rate limit.
      await host.advance(1_000);
      await host.settled();
      const task = await service().get(id);
      if (task === undefined) throw new Error('the task is gone');
      return task;
    },
    async thread(id) {
      const { channelId } = await when(id, (task) => task.channelId !== host.general.id);
      const thread = host.guild.threads.get(channelId);
      if (thread === undefined) throw new Error(`there is no thread ${channelId}`);
      return thread;
    },
    said,
    saying(channel, text) {
      const found = said(channel).findLast(({ content }) => content.includes(text));
      if (found === undefined) {
        const all = said(channel).map(({ content }) => content);
        throw new Error(`nothing says ${JSON.stringify(text)}; there is ${JSON.stringify(all, null, 1)}`);
      }
      return found;
    },
    configure,
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

const WHAT = z.object({ what: z.string() });

interface Work {
  readonly deeds: Deed[];
  readonly onDeed?: NonNullable<TaskHarnessOptions['onDeed']>;
}

/** The tools of a host, for one test after the other. */
function createOffice(): { readonly plugin: Plugin; open(work: Work): void } {
  let work: Work = { deeds: [] };
  const definition = (name: string, risk: 'read' | 'write', idempotent: boolean) => ({
    name,
    description: `Does it: ${name}.`,
    input: WHAT,
    risk,
    idempotent,
    async run({ what }: z.output<typeof WHAT>, context: ToolContext) {
      const deed = { tool: name, what, key: context.key };
      work.deeds.push(deed);
      const said = await work.onDeed?.(deed, context);
      if (what === 'break') throw new UserError('It broke.');
      return typeof said === 'string' ? said : `${name} did ${what}`;
    },
  });
  const plugin = definePlugin({
    manifest: {
      id: 'office',
      version: '1.0.0',
      description: 'Tools for tests',
      intents: ['GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'DirectMessageReactions', 'MessageContent'],
    },
    setup({ tool }) {
      tool(definition('look', 'read', true));
      tool(definition('send_note', 'write', false));
      tool({ ...definition('ring', 'write', true), policy: 'allow' });
      tool({ ...definition('stamp', 'write', false), policy: 'allow' });
    },
  });
  return {
    plugin,
    open(next) {
      work = next;
    },
  };
}

/** A model's call of one tool of the harness. */
export const use = (tool: string, what: string, text?: string): ReplyStep =>
  callTools([{ name: tool, arguments: { what } }], text === undefined ? {} : { text });
export const done = (summary: string): ReplyStep => callTools([{ name: 'task_complete', arguments: { summary } }]);
export const update = (message: string): ReplyStep => callTools([{ name: 'send_update', arguments: { message } }]);
export const askUser = (question: string, choices?: readonly string[]): ReplyStep =>
  callTools([{ name: 'ask_user', arguments: choices === undefined ? { question } : { question, choices } }]);
