import { expect } from 'chai';
import fc from 'fast-check';
import { type DeliveredBatch, DONE } from './harness.js';
import { play, RATE_LIMIT_MS, type Run, steps } from './model.js';

/** Violations as sentences; empty when there are none. */
function problemsOf({ town, taken, excused, problems }: Run): readonly string[] {
  const { told, failures } = town;
  const done = new Set(told.filter(({ delivery }) => delivery === DONE).flatMap(({ ids }) => ids));
  const failed = failures.flatMap(({ events }) => events.map(({ id }) => id));
  const lost = taken.filter(({ id }) => !excused.has(id) && !done.has(id) && !failed.includes(id));
  return [
    ...problems,
    ...lost.map(({ id }) => `${id} is lost`),
    ...failed
      .filter((id, n) => failed.indexOf(id) !== n || done.has(id))
      .map((id) => `the failure of ${id} is told falsely`),
    ...[...new Set(told.flatMap(({ ids }) => ids))].flatMap((id) => doublesOf(id, told)),
    ...[...new Set(told.map(({ channelId }) => channelId))].flatMap((channel) =>
      disorderOf(told.filter(({ channelId }) => channelId === channel)),
    ),
  ];
}

/** An event has one key for ever, and is handled once. */
function doublesOf(id: string, told: readonly DeliveredBatch[]): readonly string[] {
  const its = told.filter(({ ids }) => ids.includes(id));
  const keys = new Set(its.map(({ key }) => key));
  const dones = its.filter(({ delivery }) => delivery === DONE).length;
  return [
    ...(keys.size > 1 ? [`${id} was told under ${keys.size} keys`] : []),
    ...(dones > 1 ? [`${id} was done ${dones} times`] : []),
  ];
}

/** Rules of one channel: one delivery at a time, never faster than the rate limit, each agent in order, always the same events under a key. */
function disorderOf(told: readonly DeliveredBatch[]): readonly string[] {
  const problems: string[] = [];
  const furthest = new Map<string, number>();
  const byKey = new Map<string, readonly string[]>();
  told.forEach((one, n) => {
    const before = told[n - 1];
    if (before !== undefined && (before.to ?? Number.POSITIVE_INFINITY) > one.from)
      problems.push(`${one.key} overlaps`);
    const isSameLife = before?.life === one.life;
    if (isSameLife && before.delivery === DONE && one.from < (before.to ?? 0) + RATE_LIMIT_MS) {
      problems.push(`${one.key} came too fast`);
    }
    const known = byKey.get(one.key);
    if (known !== undefined) {
      const isRest = one.ids.every((id) => known.includes(id));
      const gone = known.filter((id) => !one.ids.includes(id));
      if (!isRest || gone.some((id) => !forgotten(told, id))) problems.push(`${one.key} has changed`);
      return;
    }
    byKey.set(one.key, one.ids);
    for (const place of one.ids.map((id) => Number(id.slice(1)))) {
      if (place < (furthest.get(one.agent) ?? 0)) problems.push(`m${place} came after a later one`);
      furthest.set(one.agent, place);
    }
  });
  return problems;
}

/** Only Bob requests the deletion of his data. */
function forgotten(told: readonly DeliveredBatch[], id: string): boolean {
  return told.some(({ events }) => events.some((event) => event.id === id && event.userId === 'bob'));
}

describe('a queue to which anything happens', () => {
  it('loses nothing, doubles nothing, and keeps each channel in order', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const run = await play(script);
        await using _ = run.town;
        expect(problemsOf(run)).to.deep.equal([]);
      }),
      { numRuns: 30, includeErrorInReport: true },
    );
  });
});
