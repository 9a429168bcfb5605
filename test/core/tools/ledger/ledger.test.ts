import { createMemoryDriver } from '@cinnabar/core/testing';
import { FORGOTTEN } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../../support/logs.js';
import { ledgerOn } from '../harness.js';

type MemoryDriver = ReturnType<typeof createMemoryDriver>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** A disk that fails permanently after this number of changes, as if the process had been killed. */
function dyingAfter(driver: MemoryDriver, changes: number): MemoryDriver {
  let left = changes;
  const orDie =
    <A extends unknown[]>(change: (...args: A) => Promise<void>) =>
    async (...args: A) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      await change(...args);
    };
  return { ...driver, write: orDie(driver.write), delete: orDie(driver.delete), erase: orDie(driver.erase) };
}

function openLedger(driver = createMemoryDriver(), clock = createManualClock()) {
  const log = recordingLogger();
  const ledger = ledgerOn(driver, clock, log);
  const row = (id: string, userId = '1', guildId = '900') => ({
    id,
    tool: 'roll',
    plugin: 'dice',
    origin: 'chat',
    input: { sides: 6 },
    argumentsHash: 'abc',
    actor: { userId, guildId, channelId: '901' },
  });
  const ended = async (id: string, userId?: string, guildId?: string) => {
    await ledger.open(row(id, userId, guildId));
    await ledger.move(id, ['proposed'], 'denied', { reason: 'no' });
    await ledger.archive(id);
  };
  return { ledger, driver, clock, log, row, ended };
}

describe('the ledger', () => {
  it('keeps who asked, what, and each step with its time', async () => {
    const { ledger, row, clock } = openLedger();
    await ledger.open(row('a'));
    clock.advance(5);
    await ledger.move('a', ['proposed'], 'pending');
    clock.advance(5);
    const entry = await ledger.move('a', ['pending'], 'approved', { decidedBy: '1' });
    expect(entry).to.deep.equal({
      ...row('a'),
      state: 'approved',
      decidedBy: '1',
      createdAt: clock.now() - 10,
      updatedAt: clock.now(),
    });
    expect(await ledger.get('a')).to.deep.equal(entry);
  });

  it('lets only one of two moves from the same state through', async () => {
    const { ledger, row } = openLedger();
    await ledger.open(row('a'));
    const moves = await Promise.all([
      ledger.move('a', ['proposed'], 'executing'),
      ledger.move('a', ['proposed'], 'executing'),
      ledger.move('a', ['proposed'], 'denied'),
    ]);
    expect(moves.map((entry) => entry?.state)).to.deep.equal(['executing', undefined, undefined]);
  });

  it('lets go of old calls by itself, also where no new ones come', async () => {
    const { ledger, ended, clock, driver } = openLedger();
    await ended('a');
    const stop = ledger.keepPruned();
    for (let day = 0; day < 32; day++) {
      clock.advance(DAY_MS);
      await ledger.recent({ limit: 1 });
    }
    stop();
    expect(await driver.list(['@host', 'ledger'])).to.deep.equal([]);
  });

  it('finds the calls of a server and of a member without reading those of others', async () => {
    const { driver, ended, ledger } = openLedger();
    for (const [id, userId, guildId] of [
      ['a', '1', '900'],
      ['b', '2', '900'],
      ['c', '1', '901'],
    ] as const)
      await ended(id, userId, guildId);
    const read: string[] = [];
    const watching = {
      ...driver,
      read: (path: readonly string[]) => {
        read.push(path.at(-1) ?? '');
        return driver.read(path);
      },
    };
    const second = openLedger(watching);
    const idsOf = async (filter: { readonly userId?: string; readonly guildId?: string }) =>
      (await second.ledger.recent({ ...filter, limit: 10 })).map(({ id }) => id);
    expect(await idsOf({ guildId: '900' })).to.deep.equal(['b', 'a']);
    expect([...new Set(read)].sort(), 'with the calls of an earlier version looked through').to.deep.equal([
      'a',
      'b',
      'c',
    ]);
    read.length = 0;
    const third = openLedger(watching);
    expect((await third.ledger.recent({ userId: '1', guildId: '901', limit: 10 })).map(({ id }) => id)).to.deep.equal([
      'c',
    ]);
    expect(read).to.not.include('b');
    expect(await ledger.recent({ limit: 10 })).to.have.length(3);
  });

  it('makes no move that the state machine does not have', async () => {
    const { ledger, row } = openLedger();
    await ledger.open(row('a'));
    expect(await ledger.move('a', ['proposed'], 'done')).to.equal(undefined);
    expect(await ledger.move('b', ['proposed'], 'denied')).to.equal(undefined);
  });

  it('has not moved when the move could not be written', async () => {
    const { ledger, row, driver } = openLedger();
    await ledger.open(row('a'));
    driver.failWrites(new Error('disk full'));
    const error = await ledger.move('a', ['proposed'], 'executing').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'disk full');
    expect(ledger.running('a')).to.include({ state: 'proposed' });
    expect(await ledger.move('a', ['proposed'], 'executing')).to.include({ state: 'executing' });
  });

  it('is found again by the next process', async () => {
    const first = openLedger();
    await first.ended('a');
    const second = openLedger(first.driver);
    expect(await second.ledger.get('a')).to.deep.include({ state: 'denied', reason: 'no', input: { sides: 6 } });
  });

  it('resolves after a restart what was left open: not run, or unknown if it was running', async () => {
    const first = openLedger();
    for (const id of ['proposed', 'pending', 'approved', 'executing']) await first.ledger.open(first.row(id));
    for (const id of ['pending', 'approved']) await first.ledger.move(id, ['proposed'], 'pending');
    await first.ledger.move('approved', ['pending'], 'approved');
    await first.ledger.move('executing', ['proposed'], 'executing');
    await first.ended('ended');

    const second = openLedger(first.driver);
    expect(await second.ledger.recover()).to.have.length(4);
    const states = await Promise.all(
      ['proposed', 'pending', 'approved', 'executing', 'ended'].map(async (id) => (await second.ledger.get(id))?.state),
    );
    expect(states).to.deep.equal(['expired', 'expired', 'expired', 'unknown', 'denied']);
    expect(await second.ledger.recover()).to.deep.equal([]);
  });

  it('is where one write has put it, whatever fails and dies afterwards', async () => {
    const first = openLedger();
    await first.ledger.open(first.row('a'));
    await first.ledger.move('a', ['proposed'], 'pending');
    let writes = 0;
    const { ledger } = openLedger({
      ...first.driver,
      async write(path, stored) {
        writes += 1;
        if (writes > 3) throw new Error('disk full');
        await first.driver.write(path, stored);
      },
      delete: () => Promise.reject(new Error('disk full')),
    });
    await ledger.open(first.row('b'));
    await ledger.move('b', ['proposed'], 'executing');
    expect(await ledger.move('b', ['executing'], 'done', { text: 'rolled 6' })).to.include({ state: 'done' });
    await ledger.archive('b');
    expect((await ledger.recent({ limit: 5 })).map(({ id, state }) => [id, state])).to.deep.equal([['b', 'done']]);

    const second = openLedger(first.driver);
    const recovered = await second.ledger.recover();
    expect(recovered.map(({ id, state }) => [id, state])).to.have.deep.members([
      ['a', 'expired'],
      ['b', 'done'],
    ]);
    await second.ledger.archive('b');
    expect(await second.ledger.get('b')).to.include({ state: 'done', text: 'rolled 6' });
    expect(await openLedger(first.driver).ledger.recover()).to.have.length(1);
  });

  it('believes what was written last when the process died while archiving, or before there was an archive', async () => {
    const first = openLedger();
    await first.ledger.open(first.row('a'));
    await first.ledger.move('a', ['proposed'], 'executing');
    const open = await first.driver.list([]);
    const running = await first.driver.read(open[0] ?? []);
    await first.ledger.move('a', ['executing'], 'done', { text: 'rolled 6' });
    await first.ledger.archive('a');
    if (running !== undefined) await first.driver.write(open[0] ?? [], running);

    const second = openLedger(first.driver);
    await second.ledger.recover();
    expect(await second.ledger.get('a')).to.include({ state: 'done', text: 'rolled 6' });
    expect(await second.ledger.recover()).to.deep.equal([]);
  });

  it('puts a damaged row aside and goes on', async () => {
    const first = openLedger();
    await first.ledger.open(first.row('a'));
    await first.ledger.open(first.row('b'));
    const [damaged] = await first.driver.list([]);
    first.driver.damage(damaged ?? [], '{"version":1,"data":{"state":"exec', { lastGood: true });
    const second = openLedger(first.driver);
    expect(await second.ledger.recover()).to.have.length(1);
    expect(await second.ledger.get('b')).to.include({ state: 'expired' });
    expect(first.driver.aside(damaged ?? [])).to.have.length(1);
    expect(second.log.entries.map(({ level }) => level)).to.include('error');
  });

  it('shows recent calls, the newest first, of a user or a guild, open ones included', async () => {
    const { ledger, row, ended } = openLedger();
    await ended('1', 'alice');
    await ended('2', 'bob');
    await ended('3', 'alice', '901');
    await ledger.open(row('4', 'alice'));
    const ids = async (filter: Omit<Parameters<typeof ledger.recent>[0], 'limit'>, limit = 10) =>
      (await ledger.recent({ ...filter, limit })).map(({ id }) => id);
    expect(await ids({})).to.deep.equal(['4', '3', '2', '1']);
    expect(await ids({}, 2)).to.deep.equal(['4', '3']);
    expect(await ids({ userId: 'alice' })).to.deep.equal(['4', '3', '1']);
    expect(await ids({ userId: 'alice', guildId: '900' })).to.deep.equal(['4', '1']);
  });

  it('shows and removes what one member asked for', async () => {
    const { ledger, row, ended, driver } = openLedger();
    await ended('1', 'alice');
    await ended('2', 'bob');
    await ledger.open(row('3', 'alice'));
    expect(await ledger.personalData.export('alice')).to.have.length(2);
    await ledger.personalData.forget('alice');
    const left = await ledger.recent({ limit: 10 });
    expect(left.map(({ id }) => id)).to.deep.equal(['3', '2']);
    expect(await driver.list([])).to.have.length(2);
  });

  it('keeps the calls of others whose results hold words of a member who is forgotten, wherever that is cut off', async () => {
    for (let changes = 0; ; changes += 1) {
      const driver = createMemoryDriver();
      const first = openLedger(driver);
      await first.ledger.open(first.row('1', 'bob'));
      await first.ledger.move('1', ['proposed'], 'executing');
      const sources = [{ guildId: null, channelId: '905', userIds: ['alice'] }];
      await first.ledger.move('1', ['executing'], 'done', { text: 'a secret', sources });
      await first.ledger.archive('1');
      await driver.keep(['@host', 'ledger', 'ended', '1'], 'old');

      const dying = openLedger(dyingAfter(driver, changes));
      const error: unknown = await dying.ledger.personalData.forget('alice').catch((thrown: unknown) => thrown);
      const next = openLedger(driver);
      expect(await next.ledger.recover(), 'announced again').to.deep.equal([]);
      expect((await next.ledger.recent({ limit: 5 })).map(({ id, state }) => [id, state])).to.deep.equal([
        ['1', 'done'],
      ]);
      await next.ledger.personalData.forget('alice');
      expect(await next.ledger.get('1')).to.include({ state: 'done', text: FORGOTTEN });
      const paths = await driver.list([]);
      expect(paths).to.deep.equal([['@host', 'ledger', 'ended', '1']]);
      expect(driver.aside(paths[0] ?? []), 'copies').to.deep.equal([]);
      if (error === undefined) break;
    }
  });

  it('keeps the key of a call that is forgotten taken, for as long as its row would be, wherever that is cut off', async () => {
    for (let changes = 0; ; changes += 1) {
      const driver = createMemoryDriver();
      const clock = createManualClock();
      const first = openLedger(driver, clock);
      await first.ledger.open({ ...first.row('1', 'alice'), key: 'k' });
      await first.ledger.move('1', ['proposed'], 'denied', { reason: 'a secret' });
      await first.ledger.archive('1');

      const dying = openLedger(dyingAfter(driver, changes), clock);
      const error: unknown = await dying.ledger.personalData.forget('alice').catch((thrown: unknown) => thrown);
      const next = openLedger(driver, clock);
      expect(await next.ledger.recover(), 'announced again').to.deep.equal([]);
      await next.ledger.personalData.forget('alice');
      expect(await next.ledger.byKey('k')).to.deep.equal({ callId: '1', row: undefined });
      clock.advance(31 * DAY_MS);
      await next.ledger.recover();
      expect(await driver.list([])).to.deep.equal([]);
      if (error === undefined) break;
    }
  });

  it('keeps nothing of calls that were refused before they had a row', async () => {
    const { ledger } = openLedger();
    // If every later archive retried all earlier ones, this would take minutes.
    for (let serial = 0; serial < 5_000; serial += 1) await ledger.archive(`refused-${serial}`);
  });

  it('forgets calls after 30 days', async () => {
    const { ledger, ended, clock } = openLedger();
    await ended('1');
    clock.advance(29 * DAY_MS);
    await ended('2');
    clock.advance(2 * DAY_MS);
    await ledger.recover();
    expect([await ledger.get('1'), (await ledger.get('2'))?.state]).to.deep.equal([undefined, 'denied']);
  });

  it('keeps the newest 10,000', async () => {
    const { ledger, ended } = openLedger();
    const ids = Array.from({ length: 10_003 }, (_, index) => String(index).padStart(6, '0'));
    for (const id of ids) await ended(id);
    await ledger.recover();
    const kept = await ledger.recent({ limit: 20_000 });
    expect([kept.length, kept.at(-1)?.id]).to.deep.equal([10_000, '000003']);
  });
});
