import { createDice } from '../../campaign/confirm/dice.js';
import { type Log, said } from './logs.js';

const HOUR_MS = 3_600_000;
const FIRST_ID = 10 ** 17;
const WORDS = 'one goes on to say what another has asked for some time before ';

/** Parameters of a channel's conversations. */
export interface Talk {
  /** Messages per hour during the day. */
  readonly perHour: number;
  /** Average number of messages in a conversation. */
  readonly burst: number;
  /** Number of conversations at night (midnight to eight) as a share of those at day. */
  readonly night: number;
  /** Approximate number of characters in a message. */
  readonly characters: number;
}

/** Generates a channel's messages: conversations that begin at random, overlap, and are rare at night. */
export function generateLog(seed: number, count: number, { perHour, burst, night, characters }: Talk): Log {
  const dice = createDice(seed);
  const exponential = () => -Math.log(1 - dice.next());
  const normal = () => Math.sqrt(2 * exponential()) * Math.cos(2 * Math.PI * dice.next());
  const times: number[] = [];
  for (let begins = dice.next() * 24 * HOUR_MS; times.length < count * 1.3; ) {
    const share = (begins / HOUR_MS) % 24 < 8 ? night : 1;
    begins += Math.min(2, (exponential() * burst) / (perHour * share)) * HOUR_MS;
    let at = begins;
    for (let left = 1 + Math.floor(exponential() * (burst - 1)); left > 0; left--) {
      times.push(at);
      at += 25_000 * Math.exp(normal());
    }
  }
  const messages = times
    .sort((a, b) => a - b)
    .slice(0, count)
    .map((at, index) => {
      const userId = String(dice.between(1, 12));
      const length = Math.max(3, Math.round(characters * Math.exp(0.7 * normal() - 0.25)));
      const content = `${index} ${WORDS.repeat(Math.ceil(length / WORDS.length))}`.slice(0, length);
      return said({
        id: String(FIRST_ID + index * 16),
        author: `user${userId}`,
        userId,
        content,
        createdAt: Math.round(at),
      });
    });
  return { name: `generated ${seed}`, messages };
}
