import { sceneRounds } from './confirm/scenes.js';
import { toolRounds } from './confirm/tool-rounds.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/**
 * Confirmation under every order of events: nothing runs twice, nor after 👎, expiry or a restart, and everything ends.
 * `rounds` interleavings inside the tools room, and as many end to end.
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
