import type { Message, MessageReaction, SendableChannels } from 'discord.js';
import type { Ask } from '../ask.js';
import { isHistory, toHeld } from '../convert/message.js';
import { compareIds, idBefore, OLDEST } from '../snowflake.js';
import type { Held } from '../store/held.js';
import type { ChannelLog } from '../store/log.js';

/** Discord's own limit. */
export const PAGE = 100;
/** A message that people react to at this very moment may contradict a page again and again. */
const MOST_ATTEMPTS = 3;

/** Fetches the `limit` messages before `before` (the newest when it is `undefined`) into the log, together with what happens meanwhile. */
export async function fetchPage(
  log: ChannelLog,
  channel: SendableChannels,
  before: string | undefined,
  limit: number,
  ask: Ask,
): Promise<void> {
  if (before === undefined) log.heardOf(channel.lastMessageId ?? OLDEST);
  for (let attempt = 1; ; attempt += 1) {
    const { epoch } = log;
    const journal = log.openJournal();
    try {
      const fetched = await ask(() =>
        channel.messages.fetch({ limit, cache: false, ...(before === undefined ? {} : { before }) }),
      );
      const listed = [...fetched.values()].sort((a, b) => compareIds(a.id, b.id));
      const page = listed.filter(isHistory).map((message) => toHeld(message, reactionsOn(message)));
      if (log.epoch !== epoch || (journal.contradicts(page) && attempt < MOST_ATTEMPTS)) continue;
      const from = listed.length < limit ? OLDEST : (listed[0]?.id ?? OLDEST);
      const to = before === undefined ? undefined : idBefore(before);
      log.add({ from, to, messages: ordered(journal.apply(page), from, to), trusted: true });
      return;
    } finally {
      log.closeJournal();
    }
  }
}

/**
 * Discord leaves the reactions out where there are none, and discord.js then keeps those of its cached copy, which may be out of date.
 * They are known by being the very same object.
 */
function reactionsOn(message: Message): Iterable<MessageReaction> {
  const cached = message.channel.messages.cache.get(message.id);
  return cached?.reactions === message.reactions ? [] : message.reactions.cache.values();
}

function ordered(messages: readonly Held[], from: string, to: string | undefined): readonly Held[] {
  return messages
    .filter(({ message }) => compareIds(from, message.id) <= 0 && (to === undefined || compareIds(message.id, to) <= 0))
    .sort((a, b) => compareIds(a.message.id, b.message.id));
}
