import type { Identities, McpEndpoint } from '@cinnabar/sdk';
import { PLUGIN } from '../agents/identity.js';
import type { AgentStanding } from '../agents/standing.js';
import { type RelayQueue, SWITCHED_OFF } from '../types.js';

export interface CutOffParts {
  readonly identities: Identities;
  readonly endpoint: McpEndpoint | undefined;
  readonly standing: AgentStanding;
  readonly queue: RelayQueue;
}

export const noAnswer = (objection: string) => `There will be no answer: ${objection}.`;

/**
 * Ends what is under way for agents that may not act any more in a guild, or in direct messages (`null`): their sessions with the calls in them,
 * their runs at the Letta server, and what waits for them. Members who asked get a word. Called after a switch was changed; what is changed past
 * the relay's own commands is found by looking again and again.
 * @returns how many events were cut off
 */
export async function cutOff(
  guildId: string | null,
  { identities, endpoint, standing, queue }: CutOffParts,
): Promise<number> {
  for (const { id, plugin } of await identities.list(guildId)) {
    if (plugin === PLUGIN && (await identities.standing(id, guildId)) !== undefined) await endpoint?.cut(id);
  }
  let cut = 0;
  // One of each channel and agent stands for the others.
  const pending = new Map(queue.pending(guildId).map((event) => [`${event.channelId} ${event.agent}`, event]));
  for (const event of pending.values()) {
    const objection = await standing.of(event);
    if (objection !== undefined)
      cut += await queue.cut(event.channelId, event.agent, noAnswer(objection), SWITCHED_OFF);
  }
  return cut;
}

/** Looks every two seconds, while something is under way, whether it still may be. */
export const CHECK_MS = 2_000;
export async function cutOffWhatMayNot(parts: CutOffParts): Promise<void> {
  for (const guildId of parts.queue.busyGuilds()) await cutOff(guildId, parts);
}
