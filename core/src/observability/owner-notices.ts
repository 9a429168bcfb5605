import {
  asNotice,
  type Clock,
  type Document,
  earliestIdAt,
  isRefusal,
  type Language,
  type Logger,
  sendOnce,
  splitMessage,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { LanguageService } from '../languages/languages.js';
import { type Alerts, createAlertQueue, type Missed, type Send, type SendingNotices } from './alert-queue.js';

const LONGEST_MESSAGE = 1_900;

interface Dependencies {
  readonly client: Client;
  readonly owners: () => Promise<readonly string[]>;
  /** Where alerts are stored. */
  readonly document: () => Document<Alerts>;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly languages: () => Pick<LanguageService, 'available' | 'find' | 'speak'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Builds the notices to owners, which are sent by direct message about problems that a log file would show too late. */
export function createOwnerNotices({
  client,
  owners,
  document,
  redact,
  languages,
  clock,
  log,
}: Dependencies): SendingNotices {
  const partsOf = (content: string) => splitMessage(content, LONGEST_MESSAGE).map(asNotice);
  const sendTo = async (userId: string, content: string, at: number, before: Missed | undefined) => {
    const channel = await client.users.createDM(userId);
    const earlier = before === undefined ? [] : partsOf(before.content);
    // The earlier attempt may have arrived although its response was lost.
    const sentAfter = before === undefined ? undefined : earliestIdAt(at);
    for (const [index, part] of partsOf(content).entries()) {
      const message = { content: part, allowedMentions: { parse: [] } };
      // No retries here, since the queue retries with longer delays.
      const options = { clock, pausesMs: [], sentAfter, sentAs: earlier[index] };
      await sendOnce(channel, message, `notice ${userId} ${at} ${index}`, options);
    }
  };
  const send: Send = async (write, at, before) => {
    let isDone = false;
    const missed: Missed[] = [];
    for (const userId of (await owners()).filter((id) => before === undefined || id === before.userId)) {
      const speak = (isLate: boolean) => languages().speak({ guildId: null, userId }, () => redact(write(isLate)));
      const [content, late] = [await speak(false), await speak(true)];
      try {
        await sendTo(userId, before === undefined ? content : late, at, before);
        isDone = true;
      } catch (error) {
        log.warn('a notice could not be delivered to an owner of the bot', { userId, error });
        // An owner who accepts no direct messages is not retried.
        if (isRefusal(error)) isDone = true;
        else missed.push({ userId, content: before?.content ?? content, late });
      }
    }
    return { isDone, missed };
  };
  const queue = createAlertQueue({
    reachable: async () => client.token !== null && (await owners()).length > 0,
    send,
    document,
    redact,
    languages: () => languagesOf(languages()),
    clock,
    log,
  });
  const connected = ['clientReady', 'shardReady', 'shardResume'] as const;
  for (const event of connected) client.on(event, queue.retry);

  return {
    alert: queue.alert,
    sendWhere: queue.sendWhere,
    tell: queue.tell,
    take: queue.take,
    open: queue.open,
    idle: queue.idle,
    async close() {
      for (const event of connected) client.off(event, queue.retry);
      await queue.close();
    },
  };
}

/** Languages of owners other than English. */
export const languagesOf = ({ available, find }: Pick<LanguageService, 'available' | 'find'>): readonly Language[] =>
  available.flatMap((locale) => find(locale) ?? []);
