import type { Log } from './logs.js';
import { createOurs, SYSTEM_TOKENS } from './ours.js';
import { type Billed, costOf, createPromptCache, tokensOfMessage } from './provider.js';
import { promptOf, type Strategy, WINDOW } from './strategies.js';

const isCounted = (count: number) => count > WINDOW;

/** The results of the project's context builder: the mean cost of an activation, and the numbers of shown and read messages. */
export async function replayOurs(logs: readonly Log[], every: number) {
  const bills: Billed[] = [];
  let shown = 0;
  let most = 0;
  for (const log of logs) {
    const provider = createPromptCache();
    const activate = createOurs(log);
    for (const { count, now } of activationsIn(log, every)) {
      const built = await activate(count, now);
      const billed = provider.send(built.prompt, now);
      if (!isCounted(count)) continue;
      bills.push(billed);
      shown += built.shown;
      most = Math.max(most, built.shown);
    }
  }
  const sum = (of: (billed: Billed) => number) => bills.reduce((total, billed) => total + of(billed), 0);
  const all = sum(({ fresh, read, written5m, written1h }) => fresh + read + written5m + written1h);
  return {
    cost: sum(costOf) / bills.length,
    cachedShare: sum(({ read }) => read) / all,
    shown: shown / bills.length,
    most,
  };
}

/** The mean cost of an activation. */
export function replay(logs: readonly Log[], every: number, strategy: Strategy): number {
  let cost = 0;
  let activations = 0;
  for (const log of logs) {
    const provider = createPromptCache();
    const sizes = sizesOf(log);
    const choose = strategy.start();
    for (const { count, now } of activationsIn(log, every)) {
      const billed = provider.send(promptOf(sizes, choose(count, now), count), now);
      if (!isCounted(count)) continue;
      cost += costOf(billed);
      activations++;
    }
  }
  return cost / activations;
}

function activationsIn({ messages }: Log, every: number) {
  return messages.flatMap(({ createdAt }, index) =>
    (index + 1) % every === 0 ? [{ count: index + 1, now: createdAt }] : [],
  );
}

const known = new WeakMap<Log, { readonly system: number; readonly sums: readonly number[] }>();

function sizesOf(log: Log) {
  const before = known.get(log);
  if (before !== undefined) return before;
  const sums = [0];
  for (const { author, content } of log.messages) {
    sums.push((sums.at(-1) ?? 0) + tokensOfMessage(author.displayName, content));
  }
  const sizes = { system: SYSTEM_TOKENS, sums };
  known.set(log, sizes);
  return sizes;
}

/** The cheapest strategy. */
export function bestOf(strategies: readonly Strategy[], costFor: (strategy: Strategy) => number) {
  return strategies
    .map((strategy) => ({ name: strategy.name, cost: costFor(strategy) }))
    .reduce((best, other) => (other.cost < best.cost ? other : best));
}
