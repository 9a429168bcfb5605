import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { DONE, event, FAILED, openQueueHarness, type QueueHarness } from './harness.js';

type RelayEvent = ReturnType<typeof event>;
type EnqueueResult = Awaited<ReturnType<QueueHarness['offer']>>[number];

/** A step in the life of a queue. */
export type Step =
  | { readonly is: 'offer'; readonly of: readonly Offered[] }
  /** A crash while events are being taken. */
  | { readonly is: 'crash'; readonly of: readonly Offered[]; readonly ticks: number; readonly torn: boolean }
  | { readonly is: 'pass'; readonly ms: number }
  | { readonly is: 'pause' | 'clear'; readonly guild: string }
  | { readonly is: 'break'; readonly agent: string }
  | { readonly is: 'forget'; readonly user: string };

interface Offered {
  readonly place: string;
  readonly agent: string;
  readonly userId: string;
}

const offered: fc.Arbitrary<Offered> = fc.record({
  place: fc.constantFrom('a/1', 'a/2', 'b/1', '@carol'),
  agent: fc.constantFrom('aurora', 'borealis'),
  userId: fc.constantFrom('alice', 'bob'),
});
const several = fc.array(offered, { minLength: 1, maxLength: 5 });

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ is: fc.constant('offer' as const), of: several }) },
    { weight: 6, arbitrary: fc.record({ is: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 5_000 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        is: fc.constant('crash' as const),
        of: several,
        ticks: fc.nat({ max: 6 }),
        torn: fc.boolean(),
      }),
    },
    fc.record({ is: fc.constantFrom('pause' as const, 'clear' as const), guild: fc.constantFrom('a', 'b') }),
    fc.record({ is: fc.constant('break' as const), agent: fc.constantFrom('aurora', 'borealis') }),
    fc.record({ is: fc.constant('forget' as const), user: fc.constant('bob') }),
  ),
  { minLength: 1, maxLength: 25 },
);

export const RATE_LIMIT_MS = 1_000;
export const MOST_WAITING = 8;

/** The requirements of a run, from its outside. */
export interface Run {
  readonly town: QueueHarness;
  /** Acknowledged events, in order of the offers. */
  readonly taken: readonly RelayEvent[];
  /** Cleared or deleted events, which may have been delivered or not. */
  readonly excused: ReadonlySet<string>;
  /** Violations found during the run. */
  readonly problems: readonly string[];
}

/** Plays the steps, then ends all faults and drains the queue. */
export async function play(script: readonly Step[]): Promise<Run> {
  const paused = new Set<string | null>();
  const broken = new Set<string>();
  const taken: RelayEvent[] = [];
  const excused = new Set<string>();
  const problems: string[] = [];
  let ids = 0;
  const town = await openQueueHarness({
    answer: ([{ agent }]) => (broken.has(agent) ? FAILED : DONE),
    rules: (guild) => ({ rateLimitMs: RATE_LIMIT_MS, maxQueueSize: MOST_WAITING, paused: paused.has(guild) }),
    queue: { mostTogether: 3, agentFor: async ({ agent }) => agent, bound: () => ({ total: 3, perGuild: 2 }) },
  });

  const make = ({ place, agent, userId }: Offered) => {
    ids += 1;
    return event(`m${ids}`, place, { agent, userId, facts: { ...event('').facts, author: null } });
  };
  const note = (of: RelayEvent, { status }: EnqueueResult) => {
    if (status === 'taken') taken.push(of);
  };
  const toggle = <T>(set: Set<T>, value: T) => set.delete(value) || set.add(value);
  const excuse = (which: (event: RelayEvent) => boolean) => {
    for (const one of taken) if (which(one)) excused.add(one.id);
  };
  const endedIds = () =>
    new Set([
      ...town.told.filter(({ delivery }) => delivery === DONE).flatMap(({ ids }) => ids),
      ...town.failures.flatMap(({ events }) => events.map(({ id }) => id)),
    ]);
  /** The number of waiting events that the queue should report for a guild. */
  const waitingIn = (guild: string) => {
    const done = endedIds();
    const flying = new Set(town.told.filter(({ to }) => to === undefined).flatMap(({ ids }) => ids));
    const left = taken.filter(({ guildId, id }) => guildId === guild && !done.has(id) && !excused.has(id));
    return left.filter(({ id }) => !flying.has(id)).length;
  };
  const compareStatus = async () => {
    for (const guild of ['a', 'b']) {
      const { waiting } = await town.queue.status(guild);
      const found = waiting.reduce((sum, { events }) => sum + events, 0);
      // An offer that a crash interrupted may have been taken: then more events wait than were acknowledged.
      if (found < waitingIn(guild)) problems.push(`${found} wait in ${guild}, ${waitingIn(guild)} should`);
    }
  };

  for (const step of script) {
    switch (step.is) {
      case 'offer': {
        const made = step.of.map(make);
        const offers = await town.offer(...made);
        for (const [n, offer] of offers.entries()) if (made[n] !== undefined) note(made[n], offer);
        break;
      }
      case 'crash': {
        const made = step.of.map(make);
        let dead = false;
        for (const one of made) {
          town.queue.enqueue(one).then(
            (offer) => (dead ? undefined : note(one, offer)),
            () => undefined,
          );
        }
        for (let tick = 0; tick < step.ticks; tick += 1) await setImmediate();
        const crashing = town.crash(step.torn ? '{"is":"sent","key":"torn","of":[0' : '');
        dead = true;
        await crashing;
        break;
      }
      case 'pass':
        await town.pass(step.ms);
        break;
      case 'pause':
        toggle(paused, step.guild);
        town.queue.wake();
        break;
      case 'clear': {
        const flying = new Set(town.told.filter(({ to }) => to === undefined).flatMap(({ ids }) => ids));
        await town.queue.clear(step.guild);
        excuse(({ guildId, id }) => guildId === step.guild && !flying.has(id));
        break;
      }
      case 'break':
        toggle(broken, step.agent);
        break;
      case 'forget':
        await town.queue.forget(step.user);
        excuse(({ userId }) => userId === step.user);
        break;
    }
    await town.quiet();
    await compareStatus();
  }
  paused.clear();
  broken.clear();
  town.queue.wake();
  await town.drain();
  return { town, taken, excused, problems };
}
