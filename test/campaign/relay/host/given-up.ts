/** Members' orders, and their results at Discord and at the Letta server. */
export interface Asked {
  /** The orders of each channel, in order. */
  readonly channels: readonly (readonly number[])[];
  /** The orders of each prompt that was sent to an agent. */
  readonly prompts: readonly (readonly number[])[];
  /** Orders to whose message the bot has replied that there will be no answer. */
  readonly refused: ReadonlySet<number>;
}

/**
 * The orders that were given up with a notice to their member. For all orders that were sent to an agent together there is one notice, a reply to the latest of
 * them; the same holds for orders that were given up before they were sent.
 */
export function givenUpOf({ channels, prompts, refused }: Asked): ReadonlySet<number> {
  const sent = new Set(prompts.flat());
  const unsent = channels.flatMap((orders) => groups(orders, (order) => !sent.has(order), refused));
  const isSaid = (orders: readonly number[]) => refused.has(Math.max(...orders));
  return new Set([...refused, ...[...prompts, ...unsent].filter(isSaid).flat()]);
}

/** Groups of consecutive orders that satisfy the condition; each order in `last` ends its group. */
function groups(orders: readonly number[], isMeant: (order: number) => boolean, last: ReadonlySet<number>) {
  const found: number[][] = [];
  let group: number[] = [];
  for (const order of orders) {
    if (isMeant(order)) group.push(order);
    if (!isMeant(order) || last.has(order)) {
      if (group.length > 0) found.push(group);
      group = [];
    }
  }
  return group.length > 0 ? [...found, group] : found;
}
