import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost, type Host } from '@cinnabar/core';
import { type LocalGuild, type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { callTools, type ModelStep, type StandIn, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { definePlugin, type Plugin, z } from '@cinnabar/sdk';
import { type Dice, weighted } from '../confirm/dice.js';

/** The real host with a real provider's client, on a local Discord, in real time. */
export interface Workplace extends AsyncDisposable {
  readonly host: Host;
  readonly model: StandIn;
  readonly guild: LocalGuild;
  readonly alice: LocalUser;
  readonly bot: LocalUser;
  readonly owner: { readonly userId: string; readonly guildId: string; readonly channelId: string };
  /** Numbers of tool runs: begun so far, and running. */
  begun(): number;
  running(): number;
  /** Number of live child processes. */
  children(): number;
  counts(): Readonly<Record<string, number>>;
}

const LONGEST_ANSWER_MS = 60;
const LONGEST_TOOL_MS = 150;

export async function openWorkplace(dataDir: string, dice: Dice): Promise<Workplace> {
  const model = await startOpenAiStandIn({
    async script() {
      await wait(dice.between(0, LONGEST_ANSWER_MS));
      return nextStep(dice);
    },
  });
  const discord = await startLocalDiscord();
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  const general = guild.createChannel({ name: 'general' });
  const work = createWork(dice);
  const host = createHost({
    config: {
      token: application.token,
      discordApi: discord.api,
      root: process.cwd(),
      botName: undefined,
      configDir: join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: process.env.BUILD_CACHE_PATH ?? join(dataDir, 'cache'),
      logDir: join(dataDir, 'logs'),
      logLevel: 'warn',
      prefixes: ['!'],
      owners: [],
      pluginFolders: [],
      disabledPlugins: [],
      presets: { llm: { provider: 'openai', model: 'gpt-4.1' } },
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-test' },
    },
    plugins: [work.plugin],
    only: ['confirm', 'tasks', 'llm', 'work'],
  });
  const { problems } = await host.start(application.token);
  if (problems.length > 0) throw new Error(problems.map(({ problem }) => problem).join('\n'));
  host.client.rest.options.globalRequestsPerSecond = 1_000_000;
  host.client.rest.globalRemaining = 1_000_000;
  return {
    host,
    model,
    guild,
    alice,
    bot: application.user,
    owner: { userId: you.id, guildId: guild.id, channelId: general.id },
    begun: work.begun,
    running: work.running,
    children: work.children,
    counts: () => ({ 'requests to the model': model.requests.length, 'runs of tools': work.begun() }),
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** A random step of the model that does not end the task. */
function nextStep(dice: Dice): ModelStep {
  const what = `thing ${dice.between(1, 1_000_000)}`;
  const use = (name: string) => callTools([{ name, arguments: { what } }]);
  const step = weighted<ModelStep>(dice, [
    [2, say(`I think about ${what}.`)],
    [4, use('look')],
    [2, use('run_program')],
    [1, use('send_note')],
    [
      2,
      callTools([
        { name: 'look', arguments: { what } },
        { name: 'run_program', arguments: { what } },
      ]),
    ],
    [1, callTools([{ name: 'send_update', arguments: { message: `So far ${what}.` } }])],
    [1, callTools([{ name: 'ask_user', arguments: { question: `What about ${what}?` } }])],
  ]);
  return step ?? say('I think.');
}

function createWork(dice: Dice) {
  let [begun, running, children] = [0, 0, 0];
  const input = z.object({ what: z.string() });
  const watched = async (run: () => Promise<unknown>) => {
    begun += 1;
    running += 1;
    try {
      await run();
      return 'done';
    } finally {
      running -= 1;
    }
  };
  const plugin: Plugin = definePlugin({
    manifest: { id: 'work', version: '1.0.0', description: 'Tools that take their time' },
    setup({ tool }) {
      tool({
        name: 'look',
        description: 'Looks at something',
        input,
        risk: 'read',
        policy: 'allow',
        run: (_input, { signal }) => watched(() => wait(dice.between(0, LONGEST_TOOL_MS), undefined, { signal })),
      });
      tool({
        name: 'run_program',
        description: 'Runs a program',
        input,
        risk: 'read',
        policy: 'allow',
        run: (_input, { signal }) =>
          watched(async () => {
            const seconds = dice.between(0, LONGEST_TOOL_MS) / 1_000;
            const child = spawn('sleep', [String(seconds)], { signal, stdio: 'ignore' });
            children += 1;
            child.on('error', () => undefined);
            await once(child, 'exit').finally(() => {
              children -= 1;
            });
            signal.throwIfAborted();
          }),
      });
      tool({
        name: 'send_note',
        description: 'Sends a note',
        input,
        risk: 'write',
        run: () => watched(async () => undefined),
      });
    },
  });
  return { plugin, begun: () => begun, running: () => running, children: () => children };
}
