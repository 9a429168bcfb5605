import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CampaignOptions, CampaignResult } from './main.js';
import { type Harness, openHarness } from './powercut/harness.js';
import { createMatters, type Matter } from './powercut/matters.js';
import { type Chance, createChance } from './settings/chance.js';

/** Number of power cuts before the campaign continues with an empty disk. */
const CUTS_IN_A_TOWN = 12;
/** Maximum number of disk operations before a power cut; a start has about thirty. */
const LATEST_CUT = 260;
/** The campaign ends after this number of violations. */
const MOST_VIOLATIONS = 20;
/** Maximum number of actions for each plugin between two power cuts. */
const MOST_ACTS = 6;

/**
 * A bot with the real plugins works on a disk whose power is cut repeatedly: after a random number of operations, or just after the bot has confirmed
 * something. Writes that were not synced may be lost in any combination (`disk.ts`). After each cut everything that the bot confirmed to members and admins
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

  /** @returns the violations afterwards */
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

  /** @returns the number of rounds: all of them, or fewer after a violation */
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

/** Continues with the bot that was checked, or with one whose power is cut during its start. */
async function actUntilCut(harness: Harness, matters: readonly Matter[], chance: Chance) {
  const isAfterWords = chance.below(2) === 0;
  if (!isAfterWords) {
    // Earlier confirmations have to survive this power cut, too.
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
