/** What members ask of the agents: to post something, to use a tool that needs an approval first, or just to say something. */
export const VERBS = ['post', 'wipe', 'say'] as const;
export type Verb = (typeof VERBS)[number];

export interface Order {
  readonly number: number;
  readonly verb: Verb;
}

/** How an order reads in a message, and so in every prompt that tells of it. */
export function worded({ number, verb }: Order): string {
  return `order ${number}: ${verb}`;
}

/** The orders that a text tells of. */
export function ordersIn(text: string): readonly Order[] {
  return [...text.matchAll(/order (\d+): (\w+)/g)].flatMap(([, number, verb]) => {
    const known = VERBS.find((one) => one === verb);
    return known === undefined ? [] : [{ number: Number(number), verb: known }];
  });
}
