import type { LocalMessage } from '@cinnabar/local-discord';
import { withoutNoticeMark } from '@cinnabar/sdk';

/** A call that a member requested, and their decision on its card. */
export interface Asked {
  readonly marker: string;
  readonly card: LocalMessage;
  /** Their first 👍 or 👎; `at` on Discord's clock. */
  pressed?: { readonly emoji: '👍' | '👎'; readonly at: number };
}

/** The texts about a finished call that a member can read: the end of its card, and the bot's messages about it. */
export interface Reading {
  readonly ending: string;
  readonly sentences: readonly string[];
}

export function readingOf({ marker, card }: Asked, posted: readonly LocalMessage[]): Reading {
  return {
    ending: withoutNoticeMark(card.content).split('\n').at(-1) ?? '',
    sentences: posted.filter((one) => one !== card && one.content.includes(marker)).map(({ content }) => content),
  };
}

/** The claims of these texts. */
function claimsOf({ ending, sentences }: Reading) {
  const says = (pattern: RegExp) => sentences.some((sentence) => pattern.test(sentence));
  return {
    done: says(/^✓ Did/) || ending === '✅ Done.',
    failed: says(/^It is too late/) || ending === '⚠️ It failed.',
    cancelled: says(/^Cancelled/) || ending.startsWith('🛑 Cancelled'),
    notRun: ending.startsWith('🔁 Not run') || ending.startsWith('⛔ Not run'),
    timedOut: ending === '⏱️ Request timed out',
    unknown: ending.startsWith('❓'),
    actedOnLike: ending.includes('before I could act on your 👍'),
  };
}

/** Tolerance for reactions in the last moment: Discord's clock runs fast, so they may arrive after the time limit. */
const SLACK_MS = 2_000;

/** Untrue or missing statements in the texts. @param runs how often the call had its effect */
export function judge(asked: Asked, reading: Reading, runs: number, timeLimitMs: number): readonly string[] {
  const { marker, card, pressed } = asked;
  const claims = claimsOf(reading);
  const { done, failed, cancelled, notRun, timedOut, unknown } = claims;
  const liked = pressed?.emoji === '👍';
  const inTime = pressed !== undefined && pressed.at <= card.createdAt + timeLimitMs - SLACK_MS;
  const wrong: readonly (readonly [boolean, string])[] = [
    [runs > 1, `ran ${runs} times`],
    [runs > 0 && !liked, `ran after ${pressed?.emoji ?? 'nothing was pressed'}`],
    [!(done || failed || cancelled || notRun || timedOut || unknown), 'is open, or nothing says what became of it'],
    [runs > 0 && !(done || unknown), 'ran, and nothing says so'],
    [runs > 0 && (failed || cancelled || notRun || timedOut), 'ran, and is said not to have run'],
    [runs === 0 && done, 'is said to be done, and did not run'],
    [timedOut && inTime, `is said to have timed out, and ${pressed?.emoji} was pressed in time`],
    [claims.actedOnLike && !liked, 'speaks of a 👍 that was not given'],
    [cancelled && pressed?.emoji !== '👎', 'is said to be cancelled, and nobody pressed 👎'],
    [failed && !marker.endsWith('-fails'), 'is said to have failed, and did not'],
    [unknown && !liked, 'is said to be unknown, and was never confirmed'],
    [new Set(reading.sentences).size < reading.sentences.length, 'is told twice'],
    [[done, failed, cancelled, notRun, timedOut, unknown].filter(Boolean).length > 1, 'is told in two ways'],
  ];
  return wrong
    .filter(([holds]) => holds)
    .map(([, what]) => `${marker} ${what} (${pressed?.emoji ?? 'nothing'} pressed): ${JSON.stringify(reading)}`);
}
