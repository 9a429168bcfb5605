import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack, publishedPackages, removeStaleOutput } from '../release/packages.js';
import { type LocalRegistry, startLocalRegistry } from '../support/local-registry.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { tryPlugin } from './stranger/author.js';
import { tryBot } from './stranger/bot.js';
import { createMachine, findNodes, forgetNpx, registryOfNpm } from './stranger/machine.js';
import { tryTypes } from './stranger/types.js';

export type Check = (holds: boolean, sentence: string) => void;

/** A part of the campaign: the actions of a new user in an empty folder outside this project. Rejects when later parts would be pointless. */
export type Step = (place: Place) => Promise<void>;

export interface Place {
  readonly machine: ReturnType<typeof createMachine>;
  /** An empty folder. */
  readonly folder: string;
  readonly registry: LocalRegistry;
  readonly check: Check;
  readonly count: (what: string, value: number) => void;
  readonly log: (line: string) => void;
}

/** The parts in order; each has an empty folder. */
const STEPS: Readonly<Record<string, Step>> = {
  bot: tryBot,
  types: tryTypes,
  plugin: tryPlugin,
};

/**
 * Packs every package, and follows the documentation with these files alone: with Node 20 and Node 24, in folders outside of the project, with an npm registry
 * that serves the packed files and forwards all other requests to npm's.
 */
export async function strangerCampaign({ rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  const home = mkdtempSync(join(tmpdir(), 'cinnabar-stranger-'));
  await using registry = await startLocalRegistry({ upstream: registryOfNpm() });
  try {
    await publishLocally(registry, join(home, 'packed'), counts);
    for (let round = 0; round < rounds; round++) {
      for (const node of findNodes()) {
        forgetNpx();
        const machine = createMachine(node, registry.url);
        for (const [name, step] of Object.entries(STEPS)) {
          const folder = join(home, `${machine.version}-${round}`, name);
          mkdirSync(folder, { recursive: true });
          const at = `Node ${machine.version}, ${name}`;
          const place = {
            machine,
            folder,
            registry,
            log: (line: string) => log(`${at}: ${line}`),
            count: (what: string, value: number) => {
              counts[`${at}: ${what}`] = value;
            },
            check: (holds: boolean, sentence: string) => {
              counts.checks = (counts.checks ?? 0) + 1;
              if (!holds) violations.push(`${at}: ${sentence}`);
            },
          };
          const startedAt = performance.now();
          try {
            await step(place);
          } catch (error) {
            violations.push(`${at}: ${error instanceof Error ? error.message : String(error)}`);
          } finally {
            machine.end();
          }
          log(`${at}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
        }
      }
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return { counts, violations };
}

async function publishLocally(registry: LocalRegistry, folder: string, counts: Record<string, number>): Promise<void> {
  const packages = await publishedPackages();
  for (const one of packages) await removeStaleOutput(one);
  mkdirSync(folder);
  const packed = await pack(packages, folder);
  for (const { filename, name, size, files } of packed) {
    registry.add(readFileSync(join(folder, filename)));
    counts[`${name}: kB packed, ${files.length} files`] = Math.round(size / 1000);
  }
}
