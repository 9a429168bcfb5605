/** The bot whose power is cut: `node --import recorder.js child.js '<Orders as JSON>'`. Prints `ready` once it is logged in. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createHost } from '@cinnabar/core';
import { callTool, type ModelScript, say, scriptedLlm } from '@cinnabar/local-models';
import { definePlugin, Ledger, option, Tools, UserError } from '@cinnabar/sdk';

/** The parameters of a process. */
export interface Orders {
  readonly discordApi: string;
  readonly token: string;
  readonly letta: string;
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly logDir: string;
}

const orders: Orders = JSON.parse(process.argv[2] ?? '{}');

/** Ends each task at once, and stores the memories that it is asked to store. */
const script: ModelScript = ({ text, tools }) => {
  if (tools.includes('task_complete')) return callTool('task_complete', { summary: 'It is noted.' });
  const fact = [...text.matchAll(/keep in mind: ([\w ]+)\./g)].at(-1)?.[1];
  if (fact === undefined) return say(JSON.stringify({ reasoning: 'Nothing.', actions: [], can_extend: false }));
  const actions = [
    { action: 'ADD_MEMORY', context: '', result: { text: `${fact}.`, about: '', importance: 5 } },
    { action: 'SPEAK', context: '', result: { message: `Remembered: ${fact}.` } },
  ];
  return say(JSON.stringify({ reasoning: 'I was asked to.', actions, can_extend: false }));
};

/** Commands for actions that members otherwise request from a model. */
const desk = definePlugin({
  manifest: { id: 'desk', version: '1.0.0', description: 'Calls tools for members' },
  inject: { tools: Tools, ledger: Ledger },
  setup({ command, services: { tools, ledger } }) {
    const call = (
      name: string,
      input: Readonly<Record<string, unknown>>,
      { actor }: { readonly actor: Parameters<typeof tools.invoke>[0]['actor'] },
    ) => tools.invoke({ name, arguments: input, actor, origin: 'desk' });
    command({
      name: 'recruit',
      description: 'Adds somebody to the party, once it is confirmed',
      options: { name: option.rest().describe('Who') },
      async run(ctx, { name }) {
        await call('add_party_character', { name, role: 'Solo' }, ctx);
      },
    });
    command({
      name: 'roster',
      description: 'Shows the party',
      async run(ctx) {
        const outcome = await call('view_party_members', {}, ctx);
        if (outcome.status !== 'done') throw new UserError(`It is ${outcome.status}.`);
        await ctx.reply(outcome.text);
      },
    });
    command({
      name: 'calls',
      description: 'Shows what became of the last calls',
      async run(ctx) {
        const rows = await ledger.recent({ userId: ctx.user.id, limit: 60 });
        const lines = rows
          .filter(({ tool }) => tool === 'add_party_character')
          .map(({ input, state }) => `${input.name}=${state}`);
        await ctx.reply(`Calls: ${lines.join(' ')}`);
      },
    });
  },
});

const host = createHost({
  config: {
    token: orders.token,
    discordApi: orders.discordApi,
    root: process.cwd(),
    botName: undefined,
    configDir: join(orders.cacheDir, 'config'),
    dataDir: orders.dataDir,
    cacheDir: orders.cacheDir,
    buildCacheDir: process.env.BUILD_CACHE_PATH ?? orders.cacheDir,
    logDir: orders.logDir,
    logLevel: 'info',
    prefixes: ['!'],
    owners: [],
    pluginFolders: [],
    disabledPlugins: [],
    presets: { mcp: { listen: '127.0.0.1:0' } },
    presetPlace: (plugin, key) => `${plugin}.${key}`,
    env: { LETTA_BASE_URL: orders.letta, LETTA_API_KEY: 'test-key' },
  },
  plugins: [scriptedLlm(script), desk],
  only: [
    ...['accounts', 'admin', 'ai', 'confirm', 'discord-tools', 'mcp', 'party', 'persona', 'relay', 'tasks'],
    ...['scripted-llm', 'desk'],
  ],
});
const { problems } = await host.start(orders.token);
for (const { plugin, problem } of problems) writeSync(2, `${plugin}: ${problem}\n`);
writeSync(1, 'ready\n');
