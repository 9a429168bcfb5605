/** Members' requests to the agents: to post something, to call a tool with approval first, or only to write a text. */
export const VERBS = ['post', 'wipe', 'say'] as const;
type Verb = (typeof VERBS)[number];

export interface Order {
  readonly number: number;
  readonly verb: Verb;
}

/** The text of an order in a message, and so in every prompt that contains it. */
export function worded({ number, verb }: Order): string {
  return `order ${number}: ${verb}`;
}

/** The orders in a text. */
export function ordersIn(text: string): readonly Order[] {
  return [...text.matchAll(/order (\d+): (\w+)/g)].flatMap(([, number, verb]) => {
    const known = VERBS.find((one) => one === verb);
    return known === undefined ? [] : [{ number: Number(number), verb: known }];
  });
}
