/** Cinnabar with commands that process untrusted documents: pages, and calls of foreign MCP servers. */
import { createHost, loadConfig } from '@cinnabar/core';
import { createWebReader } from '@cinnabar/plugin-tasks/dist/builtin/web/reader.js';
import { Clock, definePlugin, option, sleep, Tools, z } from '@cinnabar/sdk';
import { CHILD } from '../../plugins/mcp/harness.js';
import { CALLS } from '../hostile/documents.js';
import { readArguments, serve } from './protocol.js';

/** Time that the model takes for a short answer. */
const ANSWER_MS = 400;
const { api, token, dataDir, env } = readArguments();
/** Requests go only to the local Discord, whose address counts as public here. */
const worker = import.meta.resolve('@cinnabar/plugin-tasks/dist/builtin/web/html-text.js');

const bench = definePlugin({
  manifest: { id: 'bench', version: '1.0.0', description: 'Hands on what strangers send', intents: ['MessageContent'] },
  inject: { clock: Clock, tools: Tools },
  setup({ command, defer, responder, services: { clock, tools }, signal, worker: openWorker }) {
    responder({
      name: 'slow',
      description: 'Takes as long as a model',
      async respond(turn) {
        await sleep(clock, ANSWER_MS, turn.signal);
        await turn.reply('answered');
      },
    });
    const pages = openWorker<typeof import('@cinnabar/plugin-tasks/dist/builtin/web/html-text.js')>(new URL(worker));
    const reader = createWebReader({
      clock,
      ports: [Number(env.PAGES_PORT)],
      isPublic: () => true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      htmlToText: (html, options) => pages.run('htmlToText', html, options),
      mostBytes: 2 * 1024 * 1024,
      timeoutMs: 20_000,
    });
    defer(reader.close);
    command({
      name: 'page',
      description: 'Reads a page',
      options: { url: option.rest() },
      async run(ctx, { url }) {
        const { text } = await reader.read(url, signal, ctx.actor.userId);
        await ctx.reply(`done: ${text.length} characters`);
      },
    });
    command({
      name: 'foreign',
      description: 'Calls a tool',
      options: { name: z.string(), input: option.rest() },
      async run(ctx, { name, input }) {
        const { status } = await tools.invoke({ name, arguments: input, actor: ctx.actor, origin: 'bench' });
        await ctx.reply(`done: ${status}`);
      },
    });
  },
});
const config = loadConfig(process.cwd(), { ...env, CINNABAR_DATA: dataDir, DISCORD_API: api, DISCORD_TOKEN: token });
const servers = Object.fromEntries(Object.keys(CALLS).map((_, at) => [`child${at}`, CHILD]));
const host = createHost({
  config: { ...config, presets: { ...config.presets, mcp: { servers } } },
  plugins: [bench],
  // The plugins without those that ask people before a tool runs.
  only: ['admin', 'ai', 'chat', 'llm', 'mcp', 'persona', 'tasks', 'bench'],
});
await host.start(token);
await host.idle();
serve(() => host.stop());
