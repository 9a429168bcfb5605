/** What members asked, and what came of it at Discord and at the Letta server. */
export interface Asked {
  /** The orders of each channel, as they were given. */
  readonly channels: readonly (readonly number[])[];
  /** The orders of each prompt that was sent to an agent. */
  readonly prompts: readonly (readonly number[])[];
  /** Orders to whose message the bot has replied that there will be no answer. */
  readonly refused: ReadonlySet<number>;
}

/**
 * The orders that were given up, and of which their member was told. A member reads one sentence for all that was told to an agent together,
 * as a reply to the newest of it; so does one whose orders were given up before they were told to anybody.
 */
export function givenUpOf({ channels, prompts, refused }: Asked): ReadonlySet<number> {
  const sent = new Set(prompts.flat());
  const unsent = channels.flatMap((orders) => groups(orders, (order) => !sent.has(order), refused));
  const isSaid = (orders: readonly number[]) => refused.has(Math.max(...orders));
  return new Set([...refused, ...[...prompts, ...unsent].filter(isSaid).flat()]);
}

/** Neighbours that are all of a kind; each of `last` is the last of its group. */
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
