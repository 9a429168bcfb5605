import { existsSync } from 'node:fs';
import { estimateMessage } from '@cinnabar/plugin-chat/context/tokens';
import { type Log, readLogs } from './cache/logs.js';
import { createOurs, SYSTEM_TOKENS } from './cache/ours.js';
import { type Billed, costOf, createPromptCache } from './cache/provider.js';
import { everyLayout, NO_CACHING, promptOf, SLIDING, STATIC, type Strategy, WINDOW } from './cache/strategies.js';
import { atLeast, compare, type Figure } from './report.js';

/** Activations come after every so many messages. */
const RHYTHMS = [1, 2, 5, 10, 25, 50];
const DEFAULT_FOLDER = '../shared/data/irc';

/**
 * Replays each log of a folder through the real context builder and a model of Anthropic's prompt cache, with the gaps as they were.
 * What an activation costs is told in tokens of fresh input. Counted from the message on at which the window is full. The bot's own
 * replies are left out, for all alike.
 */
export async function* cache(folder?: string): AsyncGenerator<Figure> {
  if (folder === undefined && !existsSync(DEFAULT_FOLDER)) {
    process.stderr.write(`There is no ${DEFAULT_FOLDER}: give a folder of logs, \`npm run bench -- cache FOLDER\`.\n`);
    return;
  }
  const logs = await readLogs(folder ?? DEFAULT_FOLDER);
  for (const every of RHYTHMS) {
    const ours = await replayOurs(logs, every);
    const unit = 'tokens an activation';
    const name = every === 1 ? 'an activation a message' : `an activation every ${every} messages`;
    for (const strategy of [NO_CACHING, SLIDING, STATIC]) {
      yield compare({
        name,
        unit,
        ours: ours.cost,
        peer: replay(logs, every, strategy),
        peerName: strategy.name,
        atMost: 1,
      });
    }
    const best = bestOf(everyLayout(), (strategy) => replay(logs, every, strategy));
    yield compare({
      name,
      unit,
      ours: ours.cost,
      peer: best.cost,
      peerName: `best found (${best.name})`,
      atMost: 1.05,
    });
    yield compare({
      name: `${name}, shown`,
      unit: 'messages',
      ours: ours.shown,
      peer: WINDOW,
      peerName: 'all others, at least',
    });
    if (every === 1) yield atLeast(`${name}, share of the prompt read from the cache`, '%', 100 * ours.cachedShare, 97);
  }
}

const isCounted = (count: number) => count > WINDOW;

async function replayOurs(logs: readonly Log[], every: number) {
  const bills: Billed[] = [];
  let shown = 0;
  for (const log of logs) {
    const provider = createPromptCache();
    const activate = createOurs(log);
    for (const { count, now } of activationsIn(log, every)) {
      const built = await activate(count, now);
      const billed = provider.send(built.prompt, now);
      if (!isCounted(count)) continue;
      bills.push(billed);
      shown += built.shown;
    }
  }
  const sum = (of: (billed: Billed) => number) => bills.reduce((total, billed) => total + of(billed), 0);
  const all = sum(({ fresh, read, written5m, written1h }) => fresh + read + written5m + written1h);
  return { cost: sum(costOf) / bills.length, cachedShare: sum(({ read }) => read) / all, shown: shown / bills.length };
}

/** The mean cost of an activation. */
function replay(logs: readonly Log[], every: number, strategy: Strategy): number {
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
    const tokens = estimateMessage({ participant: author.displayName, content: [{ type: 'text', text: content }] });
    sums.push((sums.at(-1) ?? 0) + tokens);
  }
  const sizes = { system: SYSTEM_TOKENS, sums };
  known.set(log, sizes);
  return sizes;
}

function bestOf(strategies: readonly Strategy[], costFor: (strategy: Strategy) => number) {
  return strategies
    .map((strategy) => ({ name: strategy.name, cost: costFor(strategy) }))
    .reduce((best, other) => (other.cost < best.cost ? other : best));
}
