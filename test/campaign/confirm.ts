import { roomRounds } from './confirm/rooms.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/** Confirmation under every order of events: never twice, never after 👎, expiry or a restart, and always an end. */
export async function confirmCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const rooms = await roomRounds(seed, rounds);
  log(`tools room: ${rounds} interleavings, ${rooms.violations.length} violations`);
  return rooms;
}
