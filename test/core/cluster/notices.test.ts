import { CinnabarError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Channel, openAlerts } from '../observability/harness.js';

const MINUTE = 60_000;
const FULL = { kind: 'disk-full', text: 'The disk is full.', remedy: 'Free some space.' };
const AWAY = { kind: 'storage-away', text: 'The database is away.', remedy: 'Look at it.' };

/** Resolves when all pending work in memory is done. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

type Handler = (body: unknown) => Promise<unknown>;

/** Hosts of a cluster, with a channel that forwards requests to the first group while it has a host. */
function setUp() {
  const { clock, taking, handing } = openAlerts();
  const sent: string[] = [];
  const wire: { handle: Handler | undefined; answers: boolean } = { handle: undefined, answers: true };
  const channel: Channel = {
    async ask(group, kind, body) {
      expect(group).to.equal(0);
      const answer = await wire.handle?.(JSON.parse(JSON.stringify(body)));
      if (wire.handle === undefined || !wire.answers)
        throw new CinnabarError('CINNABAR_CLUSTER_NO_ANSWER', { group: '0' });
      return kind.answer.parse(answer);
    },
    answer(kind, handle) {
      wire.handle = async (body) => handle(kind.body.parse(body), new AbortController().signal, () => undefined);
      return () => undefined;
    },
  };
  return {
    clock,
    sent,
    wire,
    /** The host with direct messages. */
    async first() {
      const own = taking(
        {
          reachable: async () => true,
          async send(write) {
            sent.push(write(false));
            return { isDone: true, missed: [] };
          },
        },
        channel,
      );
      await own.open();
      return {
        ...own,
        /** Simulates a killed process: it answers no request. */
        async stop() {
          wire.handle = undefined;
          await own.close();
        },
      };
    },
    async other(group: number) {
      const notices = handing(group, channel, (text) => text.replaceAll('s3cret', '***'));
      await notices.open();
      return notices;
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 1_000) {
        clock.advance(Math.min(left, 1_000));
        await settled();
      }
    },
  };
}

describe('cluster: notices to the owners', () => {
  it('are sent by one host, once for what several have noticed', async () => {
    const { sent, first, other, pass } = setUp();
    const [zero, one, two] = [await first(), await other(1), await other(2)];
    for (const host of [one, zero, two]) host.alert(FULL);
    await pass(10_000);
    one.alert(AWAY);
    await pass(3 * MINUTE);
    for (const host of [two, zero]) host.alert(AWAY);
    await pass(120 * MINUTE);
    expect(sent).to.eql(['⚠️ The disk is full. Free some space.', '⚠️ The database is away. Look at it.']);
  });

  it('count repeated causes in one host, and much later ones in others', async () => {
    const { sent, first, other, pass } = setUp();
    const [zero, one, two] = [await first(), await other(1), await other(2)];
    for (const host of [zero, one, two, one]) host.alert(FULL);
    await pass(70 * MINUTE);
    two.alert(FULL);
    await pass(MINUTE);
    expect(sent).to.have.length(2);
    expect(sent[0]).to.include('(and 1 more time)');
    expect(sent[1]).to.equal('⚠️ The disk is full. Free some space.');
  });

  it('take differing texts of one reason as the same', async () => {
    const { sent, first, other, pass } = setUp();
    const [zero, one] = [await first(), await other(1)];
    zero.alert({ ...FULL, text: 'Full: groups/0.', reason: 'here ENOSPC' });
    one.alert({ ...FULL, text: 'Full: groups/1.', reason: 'here ENOSPC' });
    await pass(120 * MINUTE);
    expect(sent).to.eql(['⚠️ Full: groups/0. Free some space.']);
  });

  it('wait for the next host of the first group, over a restart of their own', async () => {
    const { sent, first, other, pass } = setUp();
    const one = await other(1);
    one.alert(AWAY);
    await pass(5 * MINUTE);
    await one.close();
    const again = await other(1);
    again.alert({ ...FULL, text: 'The disk of s3cret is full.' });
    await pass(5 * MINUTE);
    expect(sent).to.eql([]);
    await first();
    await pass(2 * MINUTE);
    expect(sent).to.have.length(1);
    expect(sent[0]).to.include('The database is away. (<t:').and.to.include('The disk of *** is full. (<t:');
  });

  it('are sent once when the acknowledgement was lost, also by the next host', async () => {
    const { sent, wire, first, other, pass } = setUp();
    const zero = await first();
    const one = await other(1);
    wire.answers = false;
    one.alert(FULL);
    await pass(MINUTE);
    await zero.stop();
    await first();
    await pass(2 * MINUTE);
    wire.answers = true;
    await pass(120 * MINUTE);
    expect(sent).to.have.length(1);
  });

  it('answer a change of the configuration once, each time that it is made', async () => {
    const { sent, first, other, pass } = setUp();
    const [zero, one] = [await first(), await other(1)];
    for (let change = 0; change < 2; change++) {
      for (const host of [one, zero]) host.tell('shared.yaml is wrong.');
      await pass(MINUTE);
    }
    expect(sent).to.eql(['⚠️ shared.yaml is wrong.', '⚠️ shared.yaml is wrong.']);
  });
});
