import { existsSync } from 'node:fs';
import { readLogs } from './cache/logs.js';
import { bestOf, replay, replayOurs } from './cache/replay.js';
import { everyLayout, NO_CACHING, SLIDING, STATIC, WINDOW } from './cache/strategies.js';
import { atLeast, compare, type Figure } from './report.js';

/** Numbers of messages between activations. */
const RHYTHMS = [1, 2, 5, 10, 25, 50];
const DEFAULT_FOLDER = '../shared/data/irc';

/**
 * Replays each log of a folder through the real context builder and a model of Anthropic's prompt cache, with the original gaps between messages.
 * The cost of an activation is given in tokens of fresh input, from the message at which the window is full. The bot's own replies are omitted for all
 * strategies.
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
      atMost: 1,
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
