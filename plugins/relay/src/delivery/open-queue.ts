import { join } from 'node:path';
import type { Clock, Files, Logger, OwnerNotices, Random, Registrar } from '@cinnabar/sdk';
import { targetOf } from '../agents/target.js';
import type { LettaServers } from '../letta/agents.js';
import type { Breakers } from '../queue/breakers.js';
import { createJournal } from '../queue/journal.js';
import { createRelayQueue } from '../queue/queue.js';
import { rulesIn } from '../settings.js';
import type { QueueRules, RelayQueue } from '../types.js';
import { createDelivering, type DeliverParts } from './deliver.js';
import { type FailureParts, onDropped, onFailed } from './notices.js';

interface OpenQueueParts extends Omit<DeliverParts, 'connected'>, FailureParts, Pick<Registrar, 'ready' | 'signal'> {
  readonly letta: LettaServers;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  readonly notices: OwnerNotices;
  readonly log: Logger;
}

/** An attempt takes its own time at most, and that of those before it at the same agent; and people need time for what they decide. */
const LANE = 10;
const DECISIONS_MS = 15 * 60_000;
/** In how many channels agents are told at a time. */
const BOUND = { total: 64, perGuild: 16 };

/** Opens the queue with what an earlier run has left in it. Nothing is told before the bot is connected. */
export async function openQueue(parts: OpenQueueParts): Promise<RelayQueue> {
  const { settings, rosters, letta, files, notices, clock, log, ready, signal } = parts;
  const connected = new Promise<void>((resolve) => {
    ready(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const rulesFor = async (guildId: string | null): Promise<QueueRules> => {
    const rules = await rulesIn(settings, guildId);
    return {
      rateLimitMs: rules.rate_limit_seconds * 1000,
      maxQueueSize: rules.max_queue_size,
      whenFull: rules.whenFull,
      attemptLimitMs: LANE * rules.agent_timeout * 1000 + DECISIONS_MS,
      paused: guildId !== null && rosters.of(guildId)?.paused === true,
    };
  };
  return createRelayQueue({
    ...parts,
    store: createJournal(join(await files.folder('relay'), 'queue'), clock, log, files),
    rulesFor,
    agentFor: async (event) => letta.worldName((await targetOf(event, parts))?.agentId ?? 'nobody'),
    delivering: createDelivering({ ...parts, connected }),
    bound: () => BOUND,
    onDropped: (drop) => onDropped(drop, parts),
    onFailed: (failure) => onFailed(failure, parts),
    onStall: ({ channelId, problem }) =>
      notices.alert({
        kind: 'relay-queue-stalled',
        text: `The queue of the relay stood still for the channel <#${channelId}> (${problem}). I have set it going again.`,
        remedy: 'Look into the log for what went before. If it happens again, restart the bot and report it.',
      }),
  });
}
