import { expect } from 'chai';
import { generateLog, type Talk } from '../../../bench/cache/generated.js';
import { bestOf, replay, replayOurs } from '../../../bench/cache/replay.js';
import { everyLayout, NO_CACHING } from '../../../bench/cache/strategies.js';

const TALKS: Readonly<Record<string, Talk>> = {
  'a channel in the middle': { perHour: 120, burst: 15, night: 0.15, characters: 60 },
  'a slow channel': { perHour: 50, burst: 12, night: 0.1, characters: 60 },
  'long conversations and silence between': { perHour: 60, burst: 60, night: 0.05, characters: 40 },
};
/** Fixed layouts with the same bound of the window: at most twice the size. */
const LAYOUTS = [NO_CACHING, ...everyLayout().filter(({ name }) => !name.includes('600'))];

describe('chat context: the prompt bill', () => {
  for (const [talk, numbers] of Object.entries(TALKS)) {
    for (const every of [25, 50]) {
      it(`is hardly above the cheapest fixed layout, chosen in hindsight: ${talk}, asked every ${every} messages`, async () => {
        const logs = [71, 72].map((seed) => generateLog(seed, 1000 + seed, numbers));
        const best = bestOf(LAYOUTS, (strategy) => replay(logs, every, strategy));
        const ours = await replayOurs(logs, every);
        expect(ours.cost / best.cost, best.name).to.be.at.most(1.05);
        expect(ours.most, 'messages shown').to.be.at.most(800);
      });
    }
  }
});
