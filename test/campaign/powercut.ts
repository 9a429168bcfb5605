import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CampaignOptions, CampaignResult } from './main.js';
import { type Harness, openHarness } from './powercut/harness.js';
import { createMatters, type Matter } from './powercut/matters.js';
import { type Chance, createChance } from './settings/chance.js';

/** So many power cuts happen to one disk before the next town begins with an empty one. */
const CUTS_IN_A_TOWN = 12;
/** Operations of the disk after which the power goes, at most: a start has some thirty. */
const LATEST_CUT = 260;
/** Then something is so wrong that more of it teaches nothing. */
const MOST_VIOLATIONS = 20;
/** How many things each plugin is made to do between two cuts, at most. */
const MOST_ACTS = 6;

/**
 * A bot with the real plugins works on a disk whose power is cut, again and again: after a random number of operations, or just after it has told
 * somebody something. From what was not synced anything may be left (`disk.ts`). After each cut everything that members and admins were told
 * holds, and no document is damaged.
 */
export async function powercutCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const chance = createChance(seed);
  const cacheDir = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-powercut-cache-'));
  const violations: string[] = [];
  const counts = { 'power cuts': 0, 'operations of the disk': 0, 'operations lost': 0, 'things told': 0 };

  const violate = (round: number, what: string) => {
    violations.push(`round ${round}: ${what}`);
    log(`VIOLATION round ${round}: ${what}`);
  };

  /** @returns what is wrong afterwards */
  const playRound = async (harness: Harness, matters: readonly Matter[]): Promise<readonly string[]> => {
    const { operations, lost, complaint } = await actUntilCut(harness, matters, chance);
    counts['power cuts'] += 1;
    counts['operations of the disk'] += operations;
    counts['operations lost'] += lost;
    const found = complaint === '' ? [] : [`the bot complained: ${complaint}`];
    await harness.start();
    for (const matter of matters) found.push(...(await matter.check()).map((what) => `${matter.name}: ${what}`));
    return [...found, ...(await harness.damage()).map((line) => `damaged: ${line}`)];
  };

  /** @returns how many rounds were played: all of them, unless something was wrong after one */
  const playHarness = async (first: number, most: number): Promise<number> => {
    await using harness = await openHarness(chance, cacheDir);
    const matters = createMatters(harness);
    let round = 1;
    try {
      await prepare(harness, matters);
      for (; round <= most; round += 1) {
        const found = await playRound(harness, matters);
        for (const what of found) violate(first + round, what);
        if (found.length > 0) return round;
      }
    } catch (error) {
      violate(first + round, error instanceof Error ? error.message : String(error));
      return round;
    } finally {
      for (const { told } of matters) counts['things told'] += told;
    }
    return most;
  };

  try {
    for (let round = 0; round < rounds && violations.length < MOST_VIOLATIONS; ) {
      round += await playHarness(round, Math.min(CUTS_IN_A_TOWN, rounds - round));
      log(`${round} of ${rounds} power cuts, ${counts['things told']} things told: ${violations.length} violations`);
    }
  } finally {
    await rm(cacheDir, { recursive: true, force: true });
  }
  return { counts, violations };
}

async function prepare(harness: Harness, matters: readonly Matter[]): Promise<void> {
  if (!(await harness.start())) throw new Error(`the bot did not start: ${(await harness.cut()).complaint}`);
  for (const matter of matters) await matter.prepare();
}

/** Goes on with the bot that has just been checked, or with one whose power goes while it starts. */
async function actUntilCut(harness: Harness, matters: readonly Matter[], chance: Chance) {
  const isAfterWords = chance.below(2) === 0;
  if (!isAfterWords) {
    // What was told before has to outlive this, too.
    await harness.cut();
    await harness.start(1 + chance.below(LATEST_CUT));
  }
  const most = isAfterWords ? 1 + chance.below(MOST_ACTS) : LATEST_CUT;
  const acting = matters.map((matter) => actUpTo(harness, matter, most));
  await Promise.race(acting);
  const result = await harness.cut();
  await Promise.all(acting);
  return result;
}

async function actUpTo(harness: Harness, matter: Matter, most: number): Promise<void> {
  for (let acts = 0; acts < most && harness.isAlive(); acts += 1) await matter.act();
}
