import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPackages } from '../../release/packages.js';
import type { Place } from '../stranger.js';

const PLUGIN = `import { definePlugin, Random, z } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'dice2', version: '1.0.0', description: 'Rolls dice' },
  inject: { random: Random },
  setup({ command, services }) {
    command({
      name: 'roll2',
      description: 'Rolls a die',
      options: { sides: z.number().int().min(2).max(1000).default(6) },
      run: (context, { sides }) => context.reply(\`🎲 \${1 + Math.floor(services.random.next() * sides)}\`),
    });
  },
});
`;

const TEST = `import assert from 'node:assert';
import { it } from 'node:test';
import * as core from '@cinnabar/core';
import { createTestHost } from '@cinnabar/core/testing';
import { type LocalDiscord, startLocalDiscord } from '@cinnabar/local-discord';
import { scriptedLlm } from '@cinnabar/local-models';
import * as letta from '@cinnabar/local-letta';
import { createManualClock } from '@cinnabar/sdk/testing';
import * as worker from '@cinnabar/sdk/worker';
import dice from '../src/index.js';

export const types = [core, letta, worker, scriptedLlm, startLocalDiscord, createManualClock] satisfies unknown[];
export const discordOf = (discord: LocalDiscord): string => discord.api;

it('rolls', async () => {
  await using host = await createTestHost({ plugins: [dice] });
  const asked = await host.alice.say(host.general, '!roll2 2');
  await host.settled();
  const answer = await host.discord.expectMessage({ author: host.bot, content: /🎲 [12]/ });
  assert.ok(answer.content.length > 0 && asked !== undefined);
});
`;

const OPTIONS = {
  strict: true,
  module: 'NodeNext',
  target: 'ES2023',
  lib: ['ES2023', 'ESNext.Disposable'],
  skipLibCheck: false,
  types: ['node'],
  rootDir: '.',
  outDir: 'dist',
};
const SDK_PACKAGES_AT_MOST = 35;

/** Compiles a project with the types of every package, with the strictest options; and a plugin that depends only on the SDK. */
export async function tryTypes({ machine, folder, check, count }: Place): Promise<void> {
  const root = (await readPackages()).find(({ folder: at }) => at === '.')?.manifest;
  const tools = ['typescript', '@types/node'].map((name) => `${name}@${root?.devDependencies[name]}`);
  const alone = join(folder, 'alone');
  mkdirSync(alone);
  writeFileSync(join(alone, 'package.json'), JSON.stringify({ name: 'cinnabar-plugin-alone', type: 'module' }));
  const sdk = await machine.run(alone, 'npm', ['install', '@cinnabar/sdk']);
  const packages = Number(/added (\d+) packages/.exec(sdk.out)?.[1]);
  count('packages that the SDK alone installs', packages);
  check(sdk.code === 0 && packages <= SDK_PACKAGES_AT_MOST, `the SDK alone installs ${packages} packages: ${sdk.err}`);

  const project = join(folder, 'project');
  for (const part of ['src', 'test']) mkdirSync(join(project, part), { recursive: true });
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'cinnabar-plugin-dice2', type: 'module' }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['src', 'test'] }));
  writeFileSync(join(project, 'src', 'index.ts'), PLUGIN);
  writeFileSync(join(project, 'test', 'dice2.test.ts'), TEST);
  const wanted = [
    '@cinnabar/sdk',
    '@cinnabar/core',
    '@cinnabar/local-discord',
    '@cinnabar/local-models',
    '@cinnabar/local-letta',
  ];
  const installed = await machine.run(project, 'npm', ['install', ...wanted, ...tools]);
  if (installed.code !== 0) throw new Error(`the packages could not be installed: ${installed.err}`);
  const compiled = await machine.run(project, 'npx', ['tsc']);
  check(compiled.code === 0, `the types do not compile: ${compiled.out.slice(0, 2_000)}`);
  const tested = await machine.run(project, 'node', ['--test', 'dist/test/dice2.test.js']);
  check(tested.code === 0, `the test failed: ${tested.out.slice(-2_000)}`);
}
