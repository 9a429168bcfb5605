/** This project, with every bundled plugin loaded. */
import { createHost, loadConfig } from '@cinnabar/core';
import { definePlugin } from '@cinnabar/sdk';
import { readArguments, serve } from './protocol.js';

const loadedAt = performance.now();
const { api, token, dataDir, env } = readArguments();
const bench = definePlugin({
  manifest: { id: 'bench', version: '1.0.0', description: 'One command that does nothing' },
  setup: ({ command }) => void command({ name: 'noop', description: 'Does nothing', run: () => undefined }),
});
const config = loadConfig(process.cwd(), { ...env, CINNABAR_DATA: dataDir, DISCORD_API: api, DISCORD_TOKEN: token });
const host = createHost({ config, plugins: [bench] });
await host.start(token);
await host.idle();
serve(() => host.stop(), loadedAt);
