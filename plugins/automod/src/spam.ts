import type { Clock } from '@cinnabar/sdk';
import type { Values } from './context.js';
import { fold } from './fold.js';
import type { Hit } from './rules.js';

const REPEAT_MS = 30_000;
const RATE_MS = 10_000;
/** Of a member, and of members in all: those who wrote longest ago are forgotten first. */
const MOST_MESSAGES = 60;
const MOST_MEMBERS = 10_000;

interface Recent {
  readonly id: string;
  readonly channelId: string;
  readonly text: string;
  readonly at: number;
}

export interface SpamHit extends Hit {
  /** The messages that make it spam, this one included. */
  readonly messages: readonly Pick<Recent, 'id' | 'channelId'>[];
}

/** Who writes how much, and what again: in memory, for half a minute. */
export function createSpamWatch(clock: Clock) {
  const members = new Map<string, readonly Recent[]>();

  /** Those who wrote longest ago come first: nothing is kept of who has been silent for the whole time. */
  const forgetSilent = (now: number) => {
    for (const [member, said] of members) {
      if (members.size <= MOST_MEMBERS && (said.at(-1)?.at ?? 0) > now - REPEAT_MS) return;
      members.delete(member);
    }
  };

  return {
    /** Counts a new message. Who was caught starts anew. */
    count(
      member: string,
      message: { readonly id: string; readonly channelId: string; readonly content: string },
      { repeats, rate }: Values,
    ): SpamHit | undefined {
      const at = clock.now();
      const text = fold(message.content);
      const recent = (members.get(member) ?? []).filter((one) => one.at > at - REPEAT_MS).slice(1 - MOST_MESSAGES);
      const all = [...recent, { id: message.id, channelId: message.channelId, text, at }];
      const same = repeats === 0 || text === '' ? [] : all.filter((one) => one.text === text);
      const fast = rate === 0 ? [] : all.filter((one) => one.at > at - RATE_MS);
      members.delete(member);
      const messages = repeats > 0 && same.length > repeats ? same : rate > 0 && fast.length > rate ? fast : undefined;
      if (messages !== undefined) return { filter: 'spam', what: String(messages.length), messages };
      members.set(member, all);
      forgetSilent(at);
      return undefined;
    },
  };
}
