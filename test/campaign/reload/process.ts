/** The process of the reload campaign: `node --expose-gc process.js SEED ROUNDS`. Prints progress to standard error, the result as JSON. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@cinnabar/core';
import { CinnabarError } from '@cinnabar/sdk';
import { type WatchedVersions, watchVersions } from '../../core/plugins/support/harness.js';
import type { CampaignResult } from '../main.js';
import { startCampaignHost } from './campaign-host.js';
import { saveHeavyPlugin } from './heavy-plugin.js';
import { playRounds } from './rounds.js';

const { gc } = globalThis;
if (gc === undefined) throw new Error('start this process with --expose-gc');
const versions = watchVersions(gc);
const [seed = 1, rounds = 1] = process.argv.slice(2).map(Number);
const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-reload-'));
try {
  process.stdout.write(JSON.stringify(await campaign()));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function campaign(): Promise<CampaignResult> {
  await saveHeavyPlugin(join(dataDir, 'own', 'heavy'), 0, 'none');
  await using campaign = await startCampaignHost(dataDir);
  const { host, problems } = campaign;
  versions.note(host.plugins.owners());
  const running = host.plugins.owners().length;
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const { reloads, refusals, violations } = await playRounds(campaign, versions, { seed, rounds, log });

  const old = await excess(versions, () => 1, 'old versions');
  const left = await unloadAll(host);
  await host.idle();
  // Plugins that cannot be unloaded keep running, in one version.
  const stillRunning = new Set(host.plugins.owners().map(({ id }) => id));
  const unloaded = await excess(versions, (plugin) => (stillRunning.has(plugin) ? 1 : 0), 'unloaded versions');
  return {
    counts: { plugins: running, reloads, refusals, 'versions seen': versions.seen },
    violations: [
      ...problems.map(({ problem }) => problem),
      ...violations,
      ...old,
      ...left,
      ...unloaded,
      ...cached(dataDir),
    ],
  };
}

/** Reports excess versions in memory, as sentences. */
async function excess(watched: WatchedVersions, allowed: (plugin: string) => number, what: string): Promise<string[]> {
  return [...(await watched.alive(0))]
    .map(([plugin, count]) => ({ plugin, excess: count - allowed(plugin) }))
    .filter(({ excess }) => excess > 0)
    .map(({ plugin, excess }) => `${plugin}: ${excess} ${what} are still alive`);
}

/** Unloads all plugins that can be unloaded. @returns a violation for each remaining effect */
async function unloadAll({ plugins }: Host): Promise<readonly string[]> {
  const required: string[] = [];
  for (const { id } of plugins.list()) {
    await plugins.unload(id).catch((error: unknown) => {
      if (!(error instanceof CinnabarError) || error.code !== 'CINNABAR_PLUGIN_REQUIRED') throw error;
      required.push(id);
    });
  }
  const stopped = plugins.list().filter(({ id }) => !required.includes(id));
  return stopped.flatMap(({ id, effects }) => effects.map((label) => `${id} has left ${label} behind`));
}

/** Modules of the bundle cache that Node still holds. */
function cached(folder: string): string[] {
  const { cache } = createRequire(import.meta.url);
  const known = Object.values(cache).flatMap((module) => [module?.id, ...(module?.children ?? []).map(({ id }) => id)]);
  return known.filter((id) => id?.startsWith(folder)).map((id) => `${id} is still in the cache of modules`);
}
