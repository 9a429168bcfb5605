import type { useFolder } from '../../core/plugins/support/folder.js';

type Files = Parameters<ReturnType<typeof useFolder>['write']>[0];

const plugin = (id: string, setup: string, above = ''): Files => ({
  [`plugins/${id}/package.json`]: { name: `cinnabar-${id}`, version: '1.0.0', type: 'module' },
  [`plugins/${id}/index.ts`]: `import { definePlugin } from '@cinnabar/sdk';
const never = () => new Promise(() => {});
const say = (word) => void process.stderr.write('REACHED ' + word + '\\n');
${above}
export default definePlugin({
  manifest: { id: '${id}', version: '1.0.0', description: '${id}' },
  async setup({ command, defer, client, signal }) {
${setup}
  },
});
`,
});

/** Plugins of a third party: they print their state on standard error, and most of their handlers do not end. */
export const PLUGINS = {
  hanging: plugin(
    'hanging',
    "command({ name: 'hang', description: 'Never ends', async run() { say('command'); await never(); } });",
  ),
  deferred: plugin(
    'deferred',
    "command({ name: 'defer', description: 'Never ends', async run(ctx) { await ctx.defer(); say('deferral'); await never(); } });",
  ),
  replying: plugin(
    'replying',
    "command({ name: 'talk', description: 'Replies', async run(ctx) { say('reply'); await ctx.reply('hello'); } });",
  ),
  neverReady: plugin('never-ready', "say('setup'); await never();"),
  loopingSetup: plugin('looping-setup', "say('setup'); for (;;) {}"),
  loopingCommand: plugin(
    'looping-command',
    "command({ name: 'loop', description: 'Loops', run() { say('loop'); for (;;) {} } });",
  ),
  loopingLater: plugin(
    'looping-later',
    "command({ name: 'later', description: 'Loops after an await', async run() { await null; say('loop'); for (;;) {} } });",
  ),
  clinging: plugin('clinging', 'defer(never);'),
  leaving: plugin('leaving', 'setInterval(() => undefined, 1000);'),
  /** A plugin whose new version never becomes ready. */
  reloading: plugin(
    'reloading',
    "const again = globalThis.hasStarted === true; globalThis.hasStarted = true; if (again) { say('reload'); await never(); }",
  ),
} satisfies Readonly<Record<string, Files>>;

/** An MCP server over stdio whose only tool never answers. */
export const SLOW_MCP_SERVER = `import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const tool = { name: 'wait', description: 'Waits', inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true } };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (method === 'initialize') answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } });
  if (method === 'tools/list') answer({ tools: [tool] });
  if (method === 'ping') answer({});
  if (method === 'tools/call') writeFileSync('ROOT/called', '');
});
`;

/** Loaded before the bot: while there is a file \`slow\` in its folder, a sync of a file takes twenty seconds. */
export const SLOW_DISK = `import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const sync = prototype.sync;
prototype.sync = async function () {
  if (existsSync('ROOT/slow')) {
    process.stderr.write('REACHED disk\\n');
    await new Promise((resolve) => setTimeout(resolve, 20000));
  }
  return sync.call(this);
};
`;
