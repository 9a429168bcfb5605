import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost, type Host } from '@cinnabar/core';
import { startLocalDiscord } from '@cinnabar/local-discord';
import {
  Accounts,
  type Actor,
  CinnabarError,
  Clock,
  definePlugin,
  Llm,
  type LlmCompletion,
  type LlmRequest,
  meterLlm,
  optional,
  type Plugin,
  Random,
  type UnmeteredLlm,
  z,
} from '@cinnabar/sdk';

/** The whole bot in real time, with a model that answers as fast as real ones. */
export interface TasksWorld extends AsyncDisposable {
  readonly host: Host;
  readonly owner: Actor;
  readonly actor: Actor;
  /** Sends a question to the bot. Resolves with the response time in ms. */
  ask(): Promise<number>;
}

interface ModelOptions {
  /** Whether the task of this request should ask a question and wait. */
  waits(request: LlmRequest): boolean;
}

const CHAT_MS = 400;
/** A model takes longer for the next step of a task than for a short answer. */
const STEP_MS = 2_000;
const TOOL_MS = 50;
const STEPS_BEFORE_WAITING = 3;

export async function openTasksWorld(dataDir: string, options: ModelOptions): Promise<TasksWorld> {
  const discord = await startLocalDiscord();
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  guild.join(bob);
  const [general, works] = [guild.createChannel({ name: 'general' }), guild.createChannel({ name: 'works' })];
  const host = createHost({
    config: {
      token: application.token,
      discordApi: discord.api,
      root: process.cwd(),
      botName: undefined,
      configDir: join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: 'warn',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [],
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
    plugins: [model(options), work],
    only: ['ai', 'chat', 'confirm', 'tasks', 'bench-llm', 'work'],
  });
  const { problems } = await host.start(application.token);
  if (problems.length > 0) throw new Error(problems.map(({ problem }) => problem).join('\n'));
  // discord.js sends at most 50 requests a second, so with this number of tasks in one process most of the time would be waiting.
  host.client.rest.options.globalRequestsPerSecond = 1_000_000;
  host.client.rest.globalRemaining = 1_000_000;
  const place = (userId: string, channelId: string): Actor => ({ userId, guildId: guild.id, channelId });
  return {
    host,
    owner: place(you.id, general.id),
    actor: place(alice.id, works.id),
    async ask() {
      const asked = performance.now();
      const answered = new Promise<number>((resolve) => {
        const stop = discord.observe((event) => {
          if (event.type !== 'messageCreate' || event.message.channel !== general) return;
          if (event.message.author.id !== application.user.id) return;
          stop();
          resolve(performance.now() - asked);
        });
      });
      bob.say(general, `${application.user} how are you?`);
      return answered;
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
    },
  };
}

function model({ waits }: ModelOptions): Plugin {
  let calls = 0;
  const answer = (request: LlmRequest): LlmCompletion['content'] => {
    calls += 1;
    if (request.tools?.some(({ name }) => name === 'task_complete') !== true) {
      return [{ type: 'text', text: 'I am fine.' }];
    }
    const id = `call_${calls}`;
    const steps = request.messages.filter(({ content }) => content.some(({ type }) => type === 'tool_use')).length;
    if (waits(request) && steps >= STEPS_BEFORE_WAITING) {
      return [{ type: 'tool_use', id, name: 'ask_user', input: { question: 'And now?' } }];
    }
    return [{ type: 'tool_use', id, name: 'look', input: { what: `thing ${calls}` } }];
  };
  const models: UnmeteredLlm = {
    current: { provider: 'bench', model: 'bench' },
    async complete(request, onUse) {
      const isStep = request.tools?.some(({ name }) => name === 'task_complete') === true;
      await wait(isStep ? STEP_MS : CHAT_MS, undefined, { signal: request.signal }).catch(() => undefined);
      if (request.signal?.aborted === true) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
      const usage = { inputTokens: 10, outputTokens: 5 };
      const used = { usage, model: 'bench', provider: 'bench', mode: 'chat' } as const;
      onUse({ kind: 'completion', price: undefined, ...used });
      return { content: answer(request), stopReason: 'end_turn', ...used };
    },
    embeddingModel: async () => undefined,
    embed: async () => undefined,
    traits: async (name = 'bench') => ({
      provider: 'bench',
      model: name,
      modes: ['chat'],
      images: false,
      contextTokens: 100_000,
      cache: { kind: 'none', breakpoints: 0, minTokens: 0, ttls: [], lookBackBlocks: 0 },
      price: undefined,
    }),
    render: async () => ({ provider: 'bench', model: 'bench', mode: 'chat', body: {} }),
  };
  return definePlugin({
    manifest: { id: 'bench-llm', version: '1.0.0', description: 'A language model that answers in its time' },
    provides: [Llm],
    inject: { accounts: optional(Accounts), clock: Clock, random: Random },
    setup: ({ provide, services }) => void provide(Llm, meterLlm(models, services)),
  });
}

const work: Plugin = definePlugin({
  manifest: { id: 'work', version: '1.0.0', description: 'A tool that takes its time' },
  setup: ({ tool }) =>
    void tool({
      name: 'look',
      description: 'Looks at something',
      input: z.object({ what: z.string() }),
      risk: 'read',
      policy: 'allow',
      async run({ what }) {
        await wait(TOOL_MS);
        return `${what} is fine. ${'It was looked at closely. '.repeat(40)}`;
      },
    }),
});
