import { join } from 'node:path';
import type { Host } from '@cinnabar/core';
import { CinnabarError } from '@cinnabar/sdk';
import fc from 'fast-check';
import type { WatchedVersions } from '../../core/plugins/support/harness.js';
import type { CampaignHost } from './campaign-host.js';
import { type Defect, saveHeavyPlugin } from './heavy-plugin.js';

export interface Tally {
  reloads: number;
  /** Number of reloads that had to fail, and left the old version running. */
  refusals: number;
  readonly violations: string[];
}

interface Round {
  readonly order: readonly string[];
  readonly defect: Defect;
}

/** Reloads every plugin once a round, in random order, the heavy one in a new version that is sometimes broken. */
export async function playRounds(
  { host, pluginFolder }: CampaignHost,
  versions: WatchedVersions,
  options: { readonly seed: number; readonly rounds: number; readonly log: (line: string) => void },
): Promise<Tally> {
  const tally: Tally = { reloads: 0, refusals: 0, violations: [] };
  const ids = host.plugins.owners().map(({ id }) => id);
  const effects = effectsOf(host);
  const rounds = fc.sample(roundsOf(ids), { seed: options.seed, numRuns: options.rounds });
  for (const [number, { order, defect }] of rounds.entries()) {
    await saveHeavyPlugin(join(pluginFolder, 'heavy'), number + 1, defect);
    for (const id of order) {
      await reload(host, id, id === 'heavy' ? defect : 'none', tally);
      versions.note(host.plugins.owners());
    }
    await host.idle();
    for (const [id, labels] of effectsOf(host)) {
      if (labels === effects.get(id)) continue;
      tally.violations.push(`round ${number}: ${id} has ${labels} instead of ${effects.get(id)}`);
    }
    if ((number + 1) % 20 === 0) options.log(`round ${number + 1}: ${tally.reloads} reloads`);
  }
  return tally;
}

const roundsOf = (ids: readonly string[]): fc.Arbitrary<Round> =>
  fc.record({
    order: fc.shuffledSubarray([...ids], { minLength: ids.length }),
    defect: fc.oneof(
      { arbitrary: fc.constant<Defect>('none'), weight: 8 },
      { arbitrary: fc.constantFrom<Defect>('syntax', 'setup'), weight: 2 },
    ),
  });

async function reload(host: Host, id: string, defect: Defect, tally: Tally): Promise<void> {
  const code = await host.plugins.reload(id).then(
    () => 'reloaded',
    (error: unknown) => (error instanceof CinnabarError ? error.code : String(error)),
  );
  if (code === 'reloaded') tally.reloads += 1;
  else tally.refusals += 1;
  const expected = defect === 'none' ? 'reloaded' : 'CINNABAR_PLUGIN_RELOAD';
  if (code !== expected) tally.violations.push(`${id}: ${code} instead of ${expected}`);
}

/** The labels of every running plugin's effects, in order. */
function effectsOf({ plugins }: Host): ReadonlyMap<string, string> {
  return new Map(plugins.owners().map(({ id, scope }) => [id, scope.effects.join(', ')]));
}
