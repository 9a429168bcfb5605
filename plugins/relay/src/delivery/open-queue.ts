import { join } from 'node:path';
import { targetOf } from '../agents/target.js';
import type { RelayCore } from '../context.js';
import { createQueueJournal } from '../queue/journal.js';
import { openRelayQueue, type QueueRules, type RelayQueue } from '../queue/queue.js';
import { rulesIn } from '../settings.js';
import { createDeliver } from './deliver.js';
import { onDropped, onFailed } from './notices.js';

/** An attempt may take its own time, that of as many attempts before it at the same agent, and the time that people take for decisions. */
const MOST_AHEAD = 10;
const DECISIONS_MS = 15 * 60_000;
/** How many channels are served at the same time. */
const BOUNDS = { total: 64, perGuild: 16 };

/** Opens the queue with what an earlier process left in it. Nothing is delivered before the bot is connected. */
export async function openQueue(core: RelayCore): Promise<RelayQueue> {
  const { settings, rosters, letta, files, notices, clock, log, signal } = core;
  const connected = new Promise<void>((resolve) => {
    core.ready(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const rulesFor = async (guildId: string | null): Promise<QueueRules> => {
    const rules = await rulesIn(settings, guildId);
    return {
      rateLimitMs: rules.rate_limit_seconds * 1000,
      maxQueueSize: rules.max_queue_size,
      whenFull: rules.whenFull,
      attemptLimitMs: MOST_AHEAD * rules.agent_timeout * 1000 + DECISIONS_MS,
      paused: guildId !== null && rosters.of(guildId)?.paused === true,
    };
  };
  return openRelayQueue({
    store: createQueueJournal(join(await files.folder('relay'), 'queue'), clock, log, files),
    rulesFor,
    agentFor: async (event) => letta.globalName((await targetOf(event, core))?.agentId ?? 'nobody'),
    deliver: createDeliver(core, connected),
    breakers: core.breakers,
    clock,
    random: core.random,
    log,
    bound: () => BOUNDS,
    onDropped: (drop) => onDropped(drop, core),
    onFailed: (failure) => onFailed(failure, core),
    onStall: ({ channelId, problem }) =>
      notices.alert({
        kind: 'relay-queue-stalled',
        text: `The queue of the relay stood still for the channel <#${channelId}> (${problem}). I have set it going again.`,
        remedy: 'Look into the log for what went before. If it happens again, restart the bot and report it.',
      }),
  });
}
