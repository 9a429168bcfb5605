import { createDice } from './confirm/dice.js';
import { openHarness } from './day/harness.js';
import { judge } from './day/judge.js';
import { BOTS, type BotName } from './day/requests.js';
import { evening, morning, nextMorning, night, noon, opening, type Scene } from './day/scenes.js';
import { Story } from './day/story.js';
import { transcriptOf } from './day/transcript.js';
import type { CampaignOptions, CampaignResult } from './main.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The part of a day that is played. */
interface Part {
  readonly scenes: readonly ((scene: Scene) => void)[];
  readonly bots: readonly BotName[];
  /** Time since midnight; the hours of the next day continue from 24. */
  readonly fromMs: number;
  readonly untilMs: number;
}
const WHOLE_DAY: Part = {
  scenes: [opening, morning, noon, evening, night, nextMorning],
  fromMs: 7 * HOUR + 45 * MINUTE,
  untilMs: 33 * HOUR + 30 * MINUTE,
  bots: BOTS,
};
/** The crash with all work that runs at that time, and the minutes after it. */
export const NIGHT: Part = {
  bots: ['Cinnabar'],
  scenes: [opening, night],
  fromMs: 22 * HOUR,
  untilMs: 23 * HOUR + 45 * MINUTE,
};

/**
 * A day in a guild of 300 with two bots of this program in separate processes: questions, cards, a persona, a relay agent, tasks overnight, a model's outage,
 * an admin who disables plugins, and a SIGKILL during all of this. The seed determines requests, requesters, times and faults; `rounds` is the number of days.
 */
export async function dayCampaign({ seed, rounds, log }: CampaignOptions, part = WHOLE_DAY): Promise<CampaignResult> {
  const totals: Record<string, number> = {};
  const violations: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const dice = createDice(Math.imul(seed + round, 0x9e3779b1));
    await using harness = await openHarness(part.fromMs);
    await Promise.all(part.bots.map((bot) => harness.bots[bot].start()));
    const story = new Story(harness, dice);
    for (const play of part.scenes) play({ story, harness, dice });
    await story.play(story.midnight + part.untilMs);
    for (const line of transcriptOf(harness)) log(line);
    const { counts, violations: wrong } = judge(harness, story.disturbances);
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times;
    violations.push(...wrong.map((one) => `seed ${seed + round}: ${one}`));
  }
  return { counts: totals, violations };
}
