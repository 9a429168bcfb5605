import type { CampaignOptions, CampaignResult } from './main.js';
import { hostRounds } from './relay/hosts.js';
import { queueRounds } from './relay/queues.js';

/** For five kills of the queue, the whole bot is killed once: it takes longer to start. */
const QUEUE_TO_HOST = 5;

/**
 * The relay under SIGKILL: `rounds` times the queue alone, and a fifth as often the whole bot, with cards and posts. In a cluster the next process of the bot
 * is another machine; the queue alone does not support that.
 */
export async function relayCampaign({ seed, rounds, cluster = false, log }: CampaignOptions): Promise<CampaignResult> {
  const ofHost = { seed, rounds: Math.ceil(rounds / QUEUE_TO_HOST), cluster, log };
  if (cluster) return hostRounds(ofHost);
  const queue = await queueRounds({ seed, rounds, log });
  const host = await hostRounds(ofHost);
  return {
    counts: { ...queue.counts, ...host.counts },
    violations: [...queue.violations, ...host.violations],
  };
}
