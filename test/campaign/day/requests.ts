import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';

/** The two bots of this program in the guild. */
export const BOTS = ['Cinnabar', 'Opal'] as const;
export type BotName = (typeof BOTS)[number];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The expected reaction to a kind of request. */
interface Expectation {
  /** Limit for any reaction: an answer, a card, a status, or a sentence about a refusal. */
  readonly wordWithinMs: number;
  /** Limit for the answer with its code, exactly once; `undefined` when no answer with the code is expected. */
  readonly answerWithinMs?: number;
  /** Whether it posts a notice, once, if its member approves. */
  readonly notice?: true;
}

const EXPECTED = {
  command: { wordWithinMs: 20 * SECOND },
  question: { wordWithinMs: MINUTE, answerWithinMs: 3 * MINUTE },
  persona: { wordWithinMs: MINUTE, answerWithinMs: 3 * MINUTE },
  agent: { wordWithinMs: 2 * MINUTE, answerWithinMs: 3 * MINUTE },
  notice: { wordWithinMs: MINUTE, notice: true },
  task: { wordWithinMs: MINUTE, answerWithinMs: 30 * MINUTE, notice: true },
  'asking task': { wordWithinMs: MINUTE, answerWithinMs: 14 * HOUR },
  'night task': { wordWithinMs: MINUTE, answerWithinMs: 14 * HOUR, notice: true },
} as const satisfies Readonly<Record<string, Expectation>>;
export type Kind = keyof typeof EXPECTED;
export const expectedOf = (kind: Kind): Expectation => EXPECTED[kind];

export type Decision = '👍' | '👎' | 'nothing';

/** A request of a member to a bot. */
export interface Asked {
  /** A code in the request and in all messages about it; texts of models contain it after `re`. */
  readonly code: string;
  readonly kind: Kind;
  readonly bot: BotName;
  readonly who: LocalUser;
  readonly where: LocalChannel;
  readonly message: LocalMessage;
  readonly at: number;
  /** The member's decision on the card, and its delay after the card's appearance. */
  readonly decision: Decision;
  readonly decideAfterMs: number;
  /** How long an agent works on it. */
  readonly agentTakesMs: number;
  /** Set once the member has decided. */
  decidedAt?: number;
}

const CODE = /\bzq\d+\b/g;

/** The codes in a text, in order. */
export const codesIn = (text: string): readonly string[] => text.match(CODE) ?? [];
/** The codes that a text answers. */
export const answeredIn = (text: string): readonly string[] =>
  [...text.matchAll(/\bre (zq\d+)\b/g)].map(([, code = '']) => code);

/** All requests of a day, by code. */
export class Requests {
  readonly all: Asked[] = [];
  readonly #byCode = new Map<string, Asked>();
  #serial = 0;

  nextCode(): string {
    this.#serial += 1;
    return `zq${this.#serial}`;
  }

  add(asked: Asked): void {
    this.all.push(asked);
    this.#byCode.set(asked.code, asked);
  }

  get(code: string): Asked | undefined {
    return this.#byCode.get(code);
  }
}
