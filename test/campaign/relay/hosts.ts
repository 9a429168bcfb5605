import type { CampaignOptions, CampaignResult } from '../main.js';
import { createChance } from '../settings/chance.js';
import { judge } from './host/judge.js';
import { type Death, finish, furnish, live } from './host/life.js';
import { createPeople } from './host/people.js';
import { openStage } from './host/stage.js';

const MOST_ORDERS_A_LIFE = 4;
const SEND = { method: 'POST', route: '/v1/conversations/:conversationId/messages' } as const;

/**
 * The whole bot in a process that is killed with SIGKILL `rounds` times and started again, while a member gives orders to two agents: they post with the bot's
 * tools, and request approvals, whose cards are approved, denied or ignored; sometimes the Letta server fails. In the end every taken event was handled, none
 * was sent under two keys, nothing was posted or executed twice, and no agent and no card waits.
 */
export async function hostRounds({ seed, rounds, cluster, log }: CampaignOptions): Promise<CampaignResult> {
  const chance = createChance(seed);
  await using stage = await openStage(chance, cluster);
  await furnish(stage);
  const people = createPeople(stage);
  const taken = new Set<string>();
  const stuck: string[] = [];
  let kills = 0;
  try {
    for (; kills < rounds; kills += 1) {
      misbehave();
      for (const id of await live(stage, people, 1 + chance.below(MOST_ORDERS_A_LIFE), nextDeath())) taken.add(id);
      if (kills % 10 === 9) log(`the whole bot was killed ${kills + 1} times`);
    }
    for (const id of await finish(stage, people)) taken.add(id);
  } catch (error) {
    stuck.push(error instanceof Error ? error.message : String(error));
  }
  const { counts, violations } = await judge(stage, people, taken);
  return { counts: { 'kills of the whole bot': kills, ...counts }, violations: [...stuck, ...violations] };

  function nextDeath(): Death {
    const fate = chance.below(10);
    if (fate < 6) return { kind: 'moment', number: 1 + chance.below(30) };
    return fate < 9 ? { kind: 'ready', afterMs: chance.below(2_500) } : { kind: 'start', afterMs: chance.below(800) };
  }

  /** In one of four processes the Letta server fails once, or its response is lost. */
  function misbehave() {
    const fate = chance.below(8);
    stage.letta.faults.clear();
    if (fate === 0) stage.letta.faults.fail(503, SEND);
    if (fate === 1) stage.letta.faults.drop({ ...SEND, afterEffect: true });
  }
}
