import type { Random } from '@cinnabar/sdk';
import type { Place } from '../commands/setup-steps.js';
import type { Agents } from '../letta/types.js';
import type { Watch } from './watch.js';

const TIMEOUT_MS = 60_000;

export interface TrialParts {
  readonly agents: () => Promise<Agents>;
  readonly watch: Watch;
  readonly random: Random;
}

/** Asks an agent to post a line in a channel, and looks whether it does. @returns `undefined` when it has, else what came instead */
export function createTrial({ agents, watch, random }: TrialParts) {
  return async ({ agentId, identity, guildId, userId }: Place, channelId: string, signal: AbortSignal) => {
    const looking = watch.during(identity, channelId);
    try {
      const text = [
        'This is a test of your connection to Discord.',
        `Use the tool discord_send once, with the channelId ${channelId} and the message "I am connected.", and do nothing else.`,
      ].join('\n');
      const place = { guildId, channelId, userId };
      const key = `setup-${random.id()}`;
      const end = await (await agents()).converse({ agentId, text, key, timeoutMs: TIMEOUT_MS, place }, signal);
      if (looking.posted()) return undefined;
      if (end.status === 'failed') return end.sentence;
      const used = end.tools.map(({ name, ok }) => `${name}${ok === false ? ' (failed)' : ''}`);
      return used.length === 0 ? 'It used no tool.' : `It used ${used.join(', ')}.`;
    } finally {
      looking.end();
    }
  };
}
