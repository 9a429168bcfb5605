import { asNotice, type Clock, type FrontDoor, type Logger, type Registrar } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { looksLikeHistory } from '../history/history-command.js';
import type { ChannelHistory } from '../history/types.js';
import type { ConfigSource } from './config-source.js';

/** A member's further refusals in a channel within this time are left unsaid. */
const QUIET_MS = 60_000;
const REMEMBERED = 1_000;

export interface HistoryRefusalParts {
  readonly on: Registrar['on'];
  readonly history: Pick<ChannelHistory, 'refusalOf'>;
  readonly config: Pick<ConfigSource, 'forChannel'>;
  readonly frontDoor: Pick<FrontDoor, 'responderIn'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Says in the channel, as a notice that no model reads, that a `.history` message is not followed: it would look as if it held. */
export function tellRefusedHistory({ on, history, config, frontDoor, clock, log }: HistoryRefusalParts): void {
  const told = new LRUCache<string, true>({
    max: REMEMBERED,
    ttl: QUIET_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  on('messageCreate', async (message) => {
    const { author, channel, guildId, content } = message;
    if (author.bot || message.webhookId !== null || !looksLikeHistory(content) || !channel.isSendable()) return;
    if ((await frontDoor.responderIn(guildId, channel.id)) !== 'chat') return;
    const { historyRoles } = (await config.forChannel(channel)).config;
    const refusal = await history.refusalOf(message, historyRoles);
    const key = `${channel.id}/${author.id}`;
    if (refusal === undefined || told.has(key)) return;
    told.set(key, true);
    await message
      .reply({ content: asNotice(refusal), allowedMentions: { parse: [], repliedUser: false } })
      .catch((error: unknown) => log.debug('a refused .history could not be told', { error }));
  });
}
