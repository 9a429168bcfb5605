import type { Access, Clock, Logger, Registrar } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { createMembers } from './access.js';
import type { Ask } from './ask.js';
import { toHeld } from './convert.js';
import { DEFAULT_BACKOFF_MAX_MS, withDiscordBackoff } from './discord-backoff.js';
import { createChannels, walk } from './fetch.js';
import { historyRefusal, looksLikeHistory } from './history-command.js';
import { configsOf, createPins } from './pins.js';
import { listen, watchLosses } from './resync.js';
import { createLogs, LOG_LIMITS, type LogLimits } from './store/logs.js';
import type { ChannelHistory, WindowOptions } from './types.js';

/** The gateway intents that the history needs to be kept live. */
export const HISTORY_INTENTS = [
  'Guilds',
  'GuildMessages',
  'GuildMessageReactions',
  'DirectMessages',
  'DirectMessageReactions',
  'MessageContent',
] as const;

export interface HistoryParts {
  readonly on: Registrar['on'];
  readonly client: Client;
  readonly access: Pick<Access, 'mayEnter'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** 200 channels, 100,000 messages and 64 MB in all, 8 MB of one channel, by default. */
  readonly limits?: LogLimits;
}

/** Channel history, read over REST once and then kept by the gateway's events in a store of its own. */
export function createChannelHistory({
  on,
  client,
  access,
  clock,
  log,
  limits = LOG_LIMITS,
}: HistoryParts): ChannelHistory {
  const logs = createLogs(limits);
  const members = createMembers(clock, log);
  const channels = createChannels(clock);
  listen(on, logs);
  watchLosses(on, client, clock, logs);
  const pins = createPins(on);

  const asking = (
    { backoffMaxMs = DEFAULT_BACKOFF_MAX_MS, signal }: Partial<WindowOptions>,
    count: () => void,
  ): Ask => {
    const options = { clock, log, maxMs: backoffMaxMs, ...(signal === undefined ? {} : { signal }) };
    return (task) =>
      withDiscordBackoff(() => {
        count();
        return task();
      }, options);
  };

  return {
    get held() {
      return logs.size;
    },
    async window(channel, options) {
      let restCalls = 0;
      const notes = new Set<string>();
      const ask = asking(options, () => {
        restCalls += 1;
      });
      const trip = { options, ask, note: (sentence: string) => void notes.add(sentence) };
      const { messages, whole } = await walk(channel, trip, { logs, members, access, channels });
      return { messages: messages.map(({ message }) => message), whole, restCalls, notes: [...notes] };
    },
    async refusalOf(message, historyRoles) {
      if (!message.channel.isSendable() || !looksLikeHistory(message.content)) return undefined;
      const ask = asking({}, () => undefined);
      const { message: said } = toHeld(message);
      return historyRefusal(said, message.channel, historyRoles, ask, { members, channels, access });
    },
    pinnedConfigs: (channel, names) =>
      configsOf(
        channel,
        names,
        pins,
        members,
        asking({}, () => undefined),
      ),
  };
}
