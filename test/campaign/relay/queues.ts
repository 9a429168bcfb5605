import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CampaignOptions, CampaignResult } from '../main.js';
import { createChance } from '../settings/chance.js';
import { startAgent } from './agent.js';
import { violationsOf } from './checks.js';
import { live } from './life.js';

const EVENTS = 100;
const MOST_KILLS_A_RUN = 8;
/** Approximate number of moments in an undisturbed run: acknowledgements, messages to the agent, its responses. */
const MOMENTS = 180;

/**
 * A process takes 100 events and sends them to an agent that sometimes fails, and is killed with SIGKILL at random moments, once a round; events that were not
 * acknowledged are offered again to the next process. In the end every event was handled, none reached the agent under two keys, no key had different events,
 * the events of each channel were in order, and no text is left on the disk.
 */
export async function queueRounds({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const chance = createChance(seed);
  const violations: string[] = [];
  const counts = {
    'kills of the queue': 0,
    runs: 0,
    events: 0,
    handled: 0,
    'given up': 0,
    'came to the agent': 0,
    'came again': 0,
  };

  const run = async (most: number): Promise<void> => {
    const number = counts.runs;
    const ids = Array.from({ length: EVENTS }, (_, n) => `run-${number}#${n}`);
    const acknowledged = new Set<string>();
    const failed = new Set<string>();
    const folder = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-relay-'));
    await using agent = await startAgent(chance);
    try {
      for (let kills = 0, wasKilled = true; wasKilled; kills += 1) {
        const killAt = kills < most ? 1 + chance.below(MOMENTS / 2) : Number.POSITIVE_INFINITY;
        const left = ids.filter((id) => !acknowledged.has(id));
        const life = await live(folder, agent, left, killAt);
        for (const id of life.taken) acknowledged.add(id);
        for (const id of life.failed) failed.add(id);
        if (life.complaint !== '') violations.push(`run ${number}: the process complained: ${life.complaint}`);
        wasKilled = life.wasKilled;
        if (wasKilled) counts['kills of the queue'] += 1;
      }
      const journal = await readFile(join(folder, 'queue.jsonl'), 'utf8');
      if (journal.includes('text of')) violations.push(`run ${number}: text is left in the journal`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const problems = violationsOf(ids, agent.seen, agent.done, failed);
    violations.push(...problems.map((problem) => `run ${number}: ${problem}`));
    counts.runs += 1;
    counts.events += ids.length;
    counts.handled += ids.filter((id) => agent.done.has(id)).length;
    counts['given up'] += failed.size;
    counts['came to the agent'] += agent.seen.length;
    counts['came again'] += agent.seen.length - new Set(agent.seen.map(({ key }) => key)).size;
  };

  // A run may end before its kills are used up; then another one starts.
  while (counts['kills of the queue'] < rounds) {
    await run(Math.min(rounds - counts['kills of the queue'], 1 + chance.below(MOST_KILLS_A_RUN)));
    if (counts.runs % 10 === 0) log(`the queue: ${counts.runs} runs, ${counts['kills of the queue']} kills`);
  }
  return { counts, violations };
}
