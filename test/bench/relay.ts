import { drain } from './relay/drain.js';
import { BOUND, CHANNELS, EVENTS, theoreticalMs } from './relay/load.js';
import { p95Beside } from './relay/neighbours.js';
import { runSeedWorker } from './relay/seed-worker.js';
import { documentMs, journalMs } from './relay/stores.js';
import { compare, compareRounds, type Figure, limit } from './report.js';

const MOST_TOGETHER = 10;
const ROUNDS = 5;
/** Duration of the conversations whose delays are measured. */
const MINUTES = 3;

/**
 * 1,000 events over 100 channels of 10 guilds, an agent that needs 200 ms, 2 s between a channel's batches, on the simulated clock. Measures the total time of
 * the queue against the theoretical minimum and against the worker of the original design, and the delay that a guild with a failing agent causes in another
 * guild.
 */
export async function* relay(): AsyncIterable<Figure> {
  const alone = await drain(1);
  const seed = runSeedWorker();
  const seconds = { unit: 's of simulated time' } as const;
  yield compare({
    ...seconds,
    name: 'relay: drain 1,000 events, one at a time',
    ours: alone.drainMs / 1000,
    peer: theoreticalMs(EVENTS / CHANNELS, BOUND.total) / 1000,
    peerName: 'theoretical bound',
    atMost: 1.05,
  });
  yield compare({
    ...seconds,
    name: 'relay: drain 1,000 events, one at a time',
    ours: alone.drainMs / 1000,
    peer: seed.drainMs / 1000,
    peerName: 'single worker that re-queues',
    atMost: 0.05,
  });
  const together = await drain(MOST_TOGETHER);
  yield compare({
    ...seconds,
    name: 'relay: drain 1,000 events, what waits goes together',
    ours: together.drainMs / 1000,
    peer: theoreticalMs(Math.ceil(EVENTS / CHANNELS / MOST_TOGETHER), BOUND.total) / 1000,
    peerName: 'theoretical bound for so many together',
    atMost: 1.05,
  });
  for (const [how, run] of [
    ['one at a time', alone],
    ['together', together],
  ] as const) {
    yield limit(`relay: events lost, ${how}`, 'events', run.lost, 0);
    yield limit(`relay: events doubled, ${how}`, 'events', run.doubled, 0);
    yield compare({
      name: `relay: channels out of order, ${how}`,
      unit: 'channels',
      ours: run.disordered,
      peer: seed.disordered,
      peerName: 'single worker that re-queues',
      atMost: 0,
    });
  }
  yield limit('relay: queue and journal, real time an event', 'ms', alone.realMs / EVENTS, 5);
  const written: number[] = [];
  const documents: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    written.push(await journalMs());
    documents.push(await documentMs());
  }
  yield compareRounds({
    name: 'relay: write down an event taken, sent and done',
    unit: 'ms',
    ours: written,
    peer: documents,
    peerName: "the queue in a collection's document",
  });

  const undisturbed = await p95Beside('answers', MINUTES);
  for (const neighbour of ['fails at once', 'fails after a minute'] as const) {
    yield compare({
      name: `relay: p95 beside a guild whose agent ${neighbour}`,
      unit: 'ms of simulated time',
      ours: await p95Beside(neighbour, MINUTES),
      peer: undisturbed,
      peerName: 'beside one whose agent answers',
      atMost: 1.1,
    });
  }
}
