import {
  asNotice,
  type Clock,
  type Document,
  isRefusal,
  type Logger,
  sendOnce,
  splitMessage,
  type z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { type AlertQueue, type alertsSchema, createAlertQueue, type Delivery } from './alert-queue.js';

const LONGEST_MESSAGE = 1_900;

/** The owners' notices, and what only the host may do with them. */
export type HostNotices = Pick<AlertQueue, 'alert' | 'tell' | 'open' | 'idle' | 'close'>;

interface Parts {
  readonly client: Client;
  readonly owners: () => readonly string[];
  /** Where alerts are kept. */
  readonly document: () => Document<z.output<typeof alertsSchema>>;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Builds the way to the owners, by direct message, for what they would not see in time in a log file. */
export function createOwnerNotices({ client, owners, document, redact, clock, log }: Parts): HostNotices {
  const sendTo = async (userId: string, content: string) => {
    const channel = await client.users.createDM(userId);
    for (const part of splitMessage(content, LONGEST_MESSAGE)) {
      const message = { content: asNotice(part), allowedMentions: { parse: [] } };
      // The queue repeats by itself, after longer pauses.
      await sendOnce(channel, message, `notice ${userId} ${clock.now()} ${part}`, { clock, pausesMs: [] });
    }
  };
  const send = async (content: string, to?: string): Promise<Delivery> => {
    let isDone = false;
    const missed: string[] = [];
    for (const userId of owners().filter((id) => to === undefined || id === to)) {
      try {
        await sendTo(userId, redact(content));
        isDone = true;
      } catch (error) {
        log.warn('a notice could not be delivered to an owner of the bot', { userId, error });
        // An owner who takes no direct messages does not take them later either.
        if (isRefusal(error)) isDone = true;
        else missed.push(userId);
      }
    }
    return { isDone, missed };
  };
  const queue = createAlertQueue({
    reachable: () => client.token !== null && owners().length > 0,
    send,
    document,
    clock,
    log,
  });
  const connected = ['clientReady', 'shardReady', 'shardResume'] as const;
  for (const event of connected) client.on(event, queue.retry);

  return {
    alert: queue.alert,
    tell: queue.tell,
    open: queue.open,
    idle: queue.idle,
    async close() {
      for (const event of connected) client.off(event, queue.retry);
      await queue.close();
    },
  };
}
