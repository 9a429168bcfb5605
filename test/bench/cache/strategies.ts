import type { Prompt, Ttl } from './provider.js';

export const WINDOW = 400;
const ROLL = 50;
const STATIC_DISTANCE = 20;

/** The sizes of a channel's messages: the simple strategies need no more, because their content never changes. */
export interface Sizes {
  readonly system: number;
  /** `sums[n]`: number of tokens of the first n messages. */
  readonly sums: readonly number[];
}

/** Chooses the start of the window and the breakpoints; may keep state between activations. */
export interface Strategy {
  readonly name: string;
  start(): (count: number, now: number) => Choice;
}
interface Choice {
  /** Index of the first message shown. */
  readonly from: number;
  readonly system?: Ttl;
  /** Breakpoints, each as the number of messages before it, in ascending order. */
  readonly marks: readonly { readonly after: number; readonly ttl: Ttl }[];
}

export const NO_CACHING: Strategy = {
  name: 'no caching',
  start: () => (count) => ({ from: Math.max(0, count - WINDOW), marks: [] }),
};

export const SLIDING: Strategy = {
  name: 'a sliding window',
  start: () => (count) => ({
    from: Math.max(0, count - WINDOW),
    system: '5m',
    marks: [{ after: count, ttl: '5m' }],
  }),
};

/** One breakpoint, placed before the last 20 messages whenever the window moves. */
export const STATIC: Strategy = {
  name: `a static marker at tail − ${STATIC_DISTANCE}`,
  start() {
    let from = 0;
    let marker: number | undefined;
    return (count) => {
      if (count - from >= WINDOW + ROLL || marker === undefined) {
        from = Math.max(0, count - WINDOW);
        marker = Math.max(1, count - STATIC_DISTANCE);
      }
      return { from, marks: [{ after: marker, ttl: '5m' }] };
    };
  },
};

/** The candidates of the search: every layout with the same choices at every activation. */
export function everyLayout(): readonly Strategy[] {
  const rolls = [1, 25, 50, 75, 100, 150, 200, 300, 400, 600];
  const ttls: readonly (readonly [base: Ttl, tail: Ttl | undefined])[] = [
    ['5m', '5m'],
    ['1h', '1h'],
    ['1h', '5m'],
    ['5m', undefined],
    ['1h', undefined],
  ];
  return ttls.flatMap(([base, tail]) =>
    rolls.flatMap((roll) => [false, true].map((restart) => layout(base, tail, roll, restart))),
  );
}

/** @param restart whether the window is also cut when the cached end must have expired */
function layout(base: Ttl, tail: Ttl | undefined, roll: number, restart: boolean): Strategy {
  const lifeMs = tail === '1h' || base === '1h' ? 3_600_000 : 300_000;
  return {
    name: `base ${base}, tail ${tail ?? 'none'}, rolled by ${roll}${restart ? ', cut back when expired' : ''}`,
    start() {
      let from = 0;
      let baseAt = 0;
      let before: { readonly count: number; readonly now: number } | undefined;
      return (count, now) => {
        const expired = before === undefined || (restart && now - before.now >= lifeMs);
        if (count - from >= WINDOW + roll || expired) {
          from = Math.max(0, count - WINDOW);
          baseAt = count;
        }
        const tails = tail === undefined ? [] : [before?.count ?? 0, count].filter((after) => after > baseAt);
        before = { count, now };
        return {
          from,
          system: base,
          marks: [{ after: baseAt, ttl: base }, ...tails.map((after) => ({ after, ttl: tail ?? base }))],
        };
      };
    },
  };
}

/** Converts the choice into a prompt. Its content never changes, so a prefix is identified by its start and end. */
export function promptOf({ system, sums }: Sizes, choice: Choice, count: number): Prompt {
  const { from } = choice;
  const sumAt = (messages: number) => sums[messages] ?? 0;
  return {
    blocks: count - from + 1,
    keyOf: (block) => (block === 0 ? 'system' : from * 100_000 + block),
    tokensTo: (block) => system + sumAt(from + block) - sumAt(from),
    breakpoints: [
      ...(choice.system === undefined ? [] : [{ block: 0, ttl: choice.system }]),
      ...choice.marks.filter(({ after }) => after > from).map(({ after, ttl }) => ({ block: after - from, ttl })),
    ],
  };
}
