import { createDice } from './confirm/dice.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { createChanges } from './trust/changes.js';
import { createChronicle } from './trust/chronicle.js';
import { openTrustHarness } from './trust/harness.js';
import { createTurns } from './trust/turns.js';
import { createWatch } from './trust/watch.js';

/** A new local Discord is started after this number of steps, because it keeps everything in memory. */
const STEPS_PER_TOWN = 2_500;
/** One of this number of steps is a turn of the bot; the others change permissions and messages. */
const STEPS_PER_TURN = 30;
const MOST_VIOLATIONS = 40;

/**
 * Members, roles, places and messages change at random, and the bot is asked in every way: no request to a model, and no message of the bot, contains a text
 * that its reader's own client would not show at that moment.
 * `rounds` is the number of steps.
 */
export async function trustCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const counts: Record<string, number> = { steps: 0, leaks: 0 };
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  const violations: string[] = [];
  let minted = 0;
  const serial = () => ++minted;
  for (let played = 0, harnesses = 0; played < rounds && violations.length < MOST_VIOLATIONS; harnesses += 1) {
    const dice = createDice(Math.imul(seed + harnesses, 0x9e3779b1));
    await using harness = await openTrustHarness(dice, serial);
    const chronicle = createChronicle();
    const watch = createWatch(harness, chronicle, count);
    const changes = createChanges(harness, dice, chronicle);
    const turns = createTurns({ harness, dice, changes, watch, chronicle, count });
    const end = Math.min(rounds, played + STEPS_PER_TOWN);
    for (; played < end; played += 1) {
      chronicle.nextStep();
      count('steps');
      if (dice.chance(1 / STEPS_PER_TURN)) await turns.turn();
      else changes.change();
    }
    violations.push(...watch.violations.map((violation) => `seed ${seed}, world ${harnesses}: ${violation}`));
    log(`${played} of ${rounds} steps, ${violations.length} leaks`);
  }
  counts.leaks = violations.length;
  const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { counts: Object.fromEntries(sorted), violations };
}
