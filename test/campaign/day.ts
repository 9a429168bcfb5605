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

/** Which part of a day is played. */
interface Part {
  readonly scenes: readonly ((scene: Scene) => void)[];
  readonly bots: readonly BotName[];
  /** Since midnight; the hours of the next day go on from 24. */
  readonly fromMs: number;
  readonly untilMs: number;
}
const WHOLE_DAY: Part = {
  scenes: [opening, morning, noon, evening, night, nextMorning],
  fromMs: 7 * HOUR + 45 * MINUTE,
  untilMs: 33 * HOUR + 30 * MINUTE,
  bots: BOTS,
};
/** The crash, with all that is under way then, and what becomes of it in the next minutes. */
export const NIGHT: Part = {
  bots: ['Cinnabar'],
  scenes: [opening, night],
  fromMs: 22 * HOUR,
  untilMs: 23 * HOUR + 45 * MINUTE,
};

/**
 * One day in a guild of 300 with two bots of this program in processes of their own: questions, cards, a persona, a relay agent, tasks over
 * night, a model's outage, an admin who switches things off, and a SIGKILL while all of that is under way. The seed varies who asks what
 * when, and what goes wrong when; `rounds` is how many days there are.
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
