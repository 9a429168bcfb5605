import type { Clock, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';

/** What went wrong in a burst is told in one message. */
const COLLECT_MS = 5_000;
const LONGEST = 1_900;

export interface OwnerNotices {
  /** Tells the bot's owners by direct message, once connected; what cannot be delivered is in the log anyway. */
  tell(sentence: string): void;
  close(): void;
}

interface Parts {
  readonly client: Client;
  readonly owners: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Builds the way to the owners for what they would not see in time in a log file. */
export function createOwnerNotices({ client, owners, clock, log }: Parts): OwnerNotices {
  let waiting: string[] = [];
  let cancel: (() => void) | undefined;

  const deliver = async () => {
    const content = waiting.join('\n').slice(0, LONGEST);
    waiting = [];
    cancel = undefined;
    for (const id of owners()) {
      try {
        const user = await client.users.fetch(id);
        await user.send({ content, allowedMentions: { parse: [] } });
      } catch (error) {
        log.warn('a notice could not be delivered to an owner of the bot', { userId: id, error });
      }
    }
  };
  const schedule = () => {
    if (waiting.length > 0) cancel ??= clock.after(COLLECT_MS, () => void deliver());
  };
  client.on('clientReady', schedule);

  return {
    tell(sentence) {
      waiting.push(`⚠️ ${sentence}`);
      if (client.isReady()) schedule();
    },
    close() {
      cancel?.();
      client.off('clientReady', schedule);
    },
  };
}
