import { expect } from 'chai';
import { DONE, event, events, openQueueHarness } from './harness.js';

const ids = (told: readonly { readonly ids: readonly string[] }[]) => told.map((one) => one.ids.join(' '));

describe('the order in which agents are told', () => {
  it('is at once, when nothing holds an event back', async () => {
    await using town = await openQueueHarness();
    expect(await town.offer(event('m1'))).to.deep.equal([{ status: 'taken', ahead: 0 }]);
    expect(town.told).to.have.lengthOf(1);
    expect(town.told[0]).to.include({ agent: 'aurora', channelId: 'town/general', from: town.clock.now() });
  });

  it('is the order of the channel, whatever its rate limit puts off', async () => {
    await using town = await openQueueHarness({ rules: () => ({ rateLimitMs: 2_000 }) });
    await town.offer(event('m1'), event('m2'), event('m3'));
    await town.drain();
    expect(ids(town.told)).to.deep.equal(['m1', 'm2', 'm3']);
    const [first, second] = town.told;
    expect((second?.from ?? 0) - (first?.to ?? 0)).to.equal(2_000);
  });

  it('is the order of the offers, however long the settings take to be read for one of them', async () => {
    const slow = new Map<string, () => void>();
    let asked = 0;
    await using town = await openQueueHarness({
      queue: {
        async rulesFor() {
          asked += 1;
          if (asked === 1) await new Promise<void>((resolve) => slow.set('first', resolve));
          return { rateLimitMs: 0, maxQueueSize: 10, whenFull: 'refuse-newest', paused: false };
        },
      },
    });
    const offers = town.offer(event('m1'), event('m2'));
    await town.quiet();
    slow.get('first')?.();
    await offers;
    await town.drain();
    expect(ids(town.told)).to.deep.equal(['m1', 'm2']);
  });

  it('does not make a channel wait for another that is slow or limited', async () => {
    await using town = await openQueueHarness({ latencyMs: 60_000, rules: () => ({ rateLimitMs: 60_000 }) });
    await town.offer(event('m1', 'town/a'), event('m2', 'town/a'), event('m3', 'town/b'), event('m4', '@bob'));
    expect(ids(town.told)).to.deep.equal(['m1', 'm3', 'm4']);
  });

  it('tells a channel of one batch at a time, and of what came meanwhile together', async () => {
    await using town = await openQueueHarness({ queue: { mostTogether: 3 } });
    await town.offer(event('m1'));
    await town.offer(event('m2'), event('m3'), event('m4'), event('m5'));
    expect(ids(town.told)).to.deep.equal(['m1']);
    await town.drain();
    expect(ids(town.told)).to.deep.equal(['m1', 'm2 m3 m4', 'm5']);
    expect(new Set(town.told.map(({ key }) => key)).size).to.equal(3);
  });

  it('puts nothing together that is for different agents', async () => {
    await using town = await openQueueHarness({ queue: { mostTogether: 10 } });
    await town.offer(event('m1'));
    await town.offer(event('m2'), event('m3', 'town/general', { agent: 'borealis' }), event('m4'));
    await town.drain();
    expect(town.told.map(({ agent, ids: [id] }) => `${agent} ${id}`)).to.deep.equal([
      'aurora m1',
      'aurora m2',
      'borealis m3',
      'aurora m4',
    ]);
  });

  it('keeps to the bound, and takes turns between guilds', async () => {
    await using town = await openQueueHarness({ queue: { bound: () => ({ total: 2, perGuild: 2 }) } });
    const many = Array.from({ length: 20 }, (_, n) => event(`big-${n}`, `big/${n}`));
    await town.offer(...many);
    expect(town.told).to.have.lengthOf(2);
    await town.offer(event('small-1', 'small/a'), event('small-2', 'small/b'));
    await town.pass(200);
    expect(town.told.slice(2).flatMap((one) => one.ids)).to.include('small-1');
    await town.pass(200);
    expect(town.told.flatMap((one) => one.ids)).to.include('small-2');
    await town.drain();
    expect(town.told).to.have.lengthOf(22);
  });

  it('leaves room for other guilds beside one whose agent hangs in every channel', async () => {
    await using town = await openQueueHarness({
      queue: { bound: () => ({ total: 4, perGuild: 2 }) },
      answer: ([{ guildId }]) => ({ after: guildId === 'hung' ? 300_000 : 200, delivery: DONE }),
    });
    await town.offer(...Array.from({ length: 10 }, (_, n) => event(`h${n}`, `hung/${n}`)));
    await town.offer(event('m1'));
    expect(town.told.map((one) => one.ids[0])).to.deep.equal(['h0', 'h1', 'm1']);
  });

  it('follows the settings of the moment', async () => {
    let rateLimitMs = 600_000;
    await using town = await openQueueHarness({ rules: () => ({ rateLimitMs }) });
    await town.offer(event('m1'), event('m2'));
    await town.pass(10_000);
    expect(town.told).to.have.lengthOf(1);
    rateLimitMs = 1_000;
    town.queue.wake();
    await town.quiet();
    expect(town.told).to.have.lengthOf(2);
  });

  it('sets no timer for an idle channel', async () => {
    await using town = await openQueueHarness({ rules: () => ({ rateLimitMs: 2_000 }) });
    await town.offer(...events(3));
    await town.drain();
    // Time for the rate limit, and a minute until the journal is compacted.
    await town.pass(120_000);
    expect(town.clock.next).to.equal(undefined);
  });
});
