import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CampaignOptions, CampaignResult } from './main.js';
import { createChance } from './settings/chance.js';
import { type Damage, damageSomething, putAside } from './settings/damage.js';
import { DOCUMENT_NAMES, type DocumentName, openDocuments, pathOf } from './settings/documents.js';
import { createExpectations } from './settings/expectations.js';
import { writeUntilKilled } from './settings/killing.js';

const QUIET = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => QUIET,
};

/**
 * A process writes settings and collections and is killed with SIGKILL repeatedly, on the same files, which are also truncated, overwritten with garbage and
 * removed in between. After each kill, every acknowledged write is present or was overwritten by a later one, exactly the damaged files are set aside, and
 * storage opens.
 */
export async function settingsCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-settings-'));
  const chance = createChance(seed);
  const expectations = createExpectations();
  const everDamaged = new Set<DocumentName>();
  const violations: string[] = [];
  const counts = { kills: 0, started: 0, acknowledged: 0, damaged: 0, lostBothCopies: 0, documentsRead: 0 };

  const damage = async (spared: readonly Damage[]): Promise<readonly Damage[]> => {
    const names = spared.map(({ document }) => document);
    const done = await damageSomething(root, chance, names);
    if (done === undefined) return [];
    expectations.damaged(done);
    everDamaged.add(done.document);
    counts.damaged += 1;
    if (done.lost === 'both') counts.lostBothCopies += 1;
    return [done];
  };

  const write = async (round: number): Promise<void> => {
    const writerSeed = seed + round * 7919;
    const witness = await writeUntilKilled(root, writerSeed, 1 + chance.below(chance.pick([4, 60, 400])));
    expectations.written(writerSeed, witness);
    counts.kills += 1;
    counts.started += witness.started;
    counts.acknowledged += witness.saved.size;
    if (witness.complaint !== '') violations.push(`round ${round}: the writer complained: ${witness.complaint}`);
  };

  const verify = async (round: number, damages: readonly Damage[]): Promise<void> => {
    const documents = openDocuments({
      root,
      log: QUIET,
      onProblem(problem) {
        if (damages.some(({ document }) => pathOf(document).join('/') === problem)) return;
        violations.push(`round ${round}: ${problem} was put aside, but nobody damaged it`);
      },
    });
    for (const name of DOCUMENT_NAMES) {
      const expected = expectations.expected(name);
      const state = await documents.read(name);
      counts.documentsRead += 1;
      if (!expectations.found(name, state)) {
        violations.push(
          `round ${round}: ${name} is ${brief(state)}, but should be one of ${expected.map(brief).join(', ')}`,
        );
      }
      const aside = await putAside(root, name);
      if (aside.length > 0 && !everDamaged.has(name))
        violations.push(`round ${round}: ${name} was put aside undamaged`);
      for (const { document, spoilt } of damages) {
        if (document !== name || spoilt === undefined || aside.some((one) => one.equals(spoilt))) continue;
        violations.push(`round ${round}: what ${name} was damaged to was not put aside`);
      }
    }
  };

  try {
    for (let round = 0; round < rounds; round += 1) {
      const before = await damage([]);
      await write(round);
      const after = await damage(before);
      await verify(round, [...before, ...after]).catch((error: unknown) => {
        violations.push(`round ${round}: storage did not open: ${String(error)}`);
      });
      if ((round + 1) % 25 === 0) log(`${round + 1} rounds, ${counts.acknowledged} writes acknowledged`);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  return { counts, violations };
}

function brief(state: { readonly n: number; readonly count: number } | undefined): string {
  return state === undefined ? 'nothing' : `write ${state.n} with ${state.count} updates`;
}
