import { sceneRounds } from './confirm/scenes.js';
import { toolRounds } from './confirm/tool-rounds.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/**
 * Tries confirmations with random orders of events: no call runs twice, or after 👎, expiry or a restart, and every call ends.
 * Plays `rounds` interleavings in the tool service, and as many end to end.
 */
export async function confirmCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const rooms = await toolRounds(seed, rounds);
  log(`tools room: ${rounds} interleavings, ${rooms.violations.length} violations`);
  const scenes = await sceneRounds({ seed, rounds, log });
  log(`end to end: ${rounds} interleavings, ${scenes.violations.length} violations`);
  return {
    counts: { ...rooms.counts, ...scenes.counts },
    violations: [...rooms.violations, ...scenes.violations],
  };
}
