import type { LocalMessage } from '@cinnabar/local-discord';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Harness, inTime, shareHarness } from './harness.js';

/** The bot's next matching message or edit, independent of the duration of its reconnection. */
const comes = ({ host }: Harness, content: RegExp) =>
  inTime(host, host.discord.expectMessage({ author: host.bot, content }));

/** The connection is lost; while it is, the requester presses 👍 and time passes. */
async function pressWhileAway({ host, call, latest }: Harness, { seconds, lost }: { seconds: number; lost: boolean }) {
  await call(host.alice, { what: 'milk' });
  const { gateway } = host.discord.faults;
  gateway.refuseResume = lost;
  const down = new Promise((resolve) => host.client.once('shardReconnecting', resolve));
  gateway.refuseConnections = 2;
  gateway.dropSockets();
  await down;
  host.alice.react(latest(), '👍');
  host.clock.advance(seconds * 1_000);
}

const SHARDS = 3;
/** The shard of the guild: the bot of the tests has one. */
const OWN = 0;
const TIME_LIMIT_MS = 60_000;
const STEP_MS = 1_000;

const CUT_OFF = /🔁 Not run: I was cut off from Discord and saw your 👍 too late\. Please ask again\.$/;
const TIMED_OUT = /⏱️ Request timed out$/;

interface Step {
  readonly shard: number;
  readonly event: 'shardReconnecting' | 'shardResume' | 'shardReady';
}

function emit({ client }: Harness['host'], { shard, event }: Step): void {
  if (event === 'shardReady') client.emit(event, shard, undefined);
  else if (event === 'shardResume') client.emit(event, shard, 0);
  else client.emit(event, shard);
}

/** Emits the events of shards. For each there is a card whose time ends a moment after it: a late 👍 shows whether the shard was down then. */
async function play({ call, host, said, runs }: Harness, steps: readonly Step[]) {
  const { clock, alice, settled } = host;
  const cards: LocalMessage[] = [];
  for (const _ of steps) {
    await call(alice, { what: 'milk' });
    cards.push(said().at(-1) ?? expect.fail('there is no card'));
    clock.advance(STEP_MS);
  }
  expect(new Set(cards).size).to.equal(steps.length);
  clock.advance(TIME_LIMIT_MS - steps.length * STEP_MS - 1);
  let isDown = false;
  const downAfter: boolean[] = [];
  for (const step of steps) {
    emit(host, step);
    await settled();
    if (step.shard === OWN) isDown = step.event === 'shardReconnecting';
    downAfter.push(isDown);
    clock.advance(STEP_MS);
  }
  for (const card of cards) alice.react(card, '👍');
  await settled();
  for (const [index, { content }] of cards.entries())
    expect(content, `after step ${index}`).to.match(downAfter[index] === true ? CUT_OFF : TIMED_OUT);
  expect(runs).to.deep.equal([]);
  for (let shard = 0; shard < SHARDS; shard += 1) emit(host, { shard, event: 'shardResume' });
}

const down = (shard: number): Step => ({ shard, event: 'shardReconnecting' });
const resumed = (shard: number): Step => ({ shard, event: 'shardResume' });
const ready = (shard: number): Step => ({ shard, event: 'shardReady' });

describe('a press while the bot is disconnected from Discord', () => {
  const open = shareHarness();

  for (const lost of [false, true]) {
    const session = lost ? 'lost' : 'resumed';
    it(`counts while there is time, when the session is ${session}`, async () => {
      await using harness = await open();
      await pressWhileAway(harness, { seconds: 1, lost });
      await comes(harness, /^✓ Did milk\.\n/);
      expect(harness.runs).to.have.length(1);
    });

    it(`is not said to have timed out when the bot learns of it too late, and the session is ${session}`, async () => {
      await using harness = await open();
      await pressWhileAway(harness, { seconds: 90, lost });
      await comes(harness, /🔁 Not run: I was cut off from Discord and saw your 👍 too late\. Please ask again\.$/);
      expect(harness.runs).to.deep.equal([]);
    });
  }

  it('is judged by the outages of its own shard, all of which are remembered, not only the latest of any', async () => {
    await using harness = await open();
    const twice = [down(OWN), down(1), resumed(OWN), down(2), down(OWN), ready(1), down(OWN), ready(OWN), down(1)];
    await play(harness, [...twice, resumed(1), down(OWN), resumed(2)]);
  });

  it('is judged so in any order of outages', async () => {
    await using harness = await open();
    const step = fc.record<Step>({
      shard: fc.constantFrom(OWN, OWN, 1, 2),
      event: fc.constantFrom('shardReconnecting', 'shardResume', 'shardReady'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => play(harness, steps)),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
