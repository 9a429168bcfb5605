import { createHash } from 'node:crypto';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { CinnabarError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, countingIds, ledgerStoreOn, openToolHarness, recordingTool } from './harness.js';

const request = {
  name: 'add_party_character',
  arguments: { name: 'V' },
  actor: alice,
  origin: 'tasks',
  key: 'task-1:3:1',
};
const LEDGER = ['@host', 'ledger'];
const keyDocument = [...LEDGER, 'keys', createHash('sha256').update(`${request.key}#1`).digest('hex')];
const UNKNOWN = 'CINNABAR_TOOL_UNKNOWN_OUTCOME';

/** Tool services that share documents and ids, as consecutive processes do. */
function openProcesses(driver = createMemoryDriver()) {
  const ids = countingIds();
  const runs: unknown[] = [];
  const open = (own = driver) => {
    const shop = openToolHarness({ driver: own, ids });
    shop.service.tool(shop.load('party'), recordingTool(runs));
    return shop;
  };
  return { driver, runs, open };
}

describe('a call with a key, of which something got lost,', () => {
  it('is found again when the document of its key is damaged', async () => {
    const { driver, runs, open } = openProcesses();
    const first = await open().service.invoke(request);
    driver.damage(keyDocument, 'torn', { lastGood: true });
    const { service } = open();
    for (const _ of [1, 2]) expect(await service.invoke(request)).to.include({ status: 'done', callId: first.callId });
    expect(runs).to.have.length(1);
  });

  for (const folder of ['open', 'ended']) {
    it(`is unknown, and not made again, when its row among those that are ${folder} is damaged`, async () => {
      const { driver, runs, open } = openProcesses();
      const { callId } = await open().service.invoke(request);
      if (folder === 'open') await driver.delete([...LEDGER, 'ended', callId]);
      driver.damage([...LEDGER, folder, callId], 'torn', { lastGood: true });
      const { service } = open();
      await service.recover();
      for (const _ of [1, 2]) expect(await service.invoke(request)).to.have.nested.property('error.code', UNKNOWN);
      expect(await service.invoke({ ...request, attempt: 2 })).to.have.nested.property(
        'error.code',
        'CINNABAR_TOOL_KEY',
      );
      expect(runs).to.have.length(1);
    });
  }

  it('is unknown, and not made again, when its member has wanted it forgotten; nothing of theirs is left', async () => {
    const { driver, runs, open } = openProcesses();
    const { service } = open();
    const { callId } = await service.invoke({ ...request, actor: { ...alice, userId: '4711' } });
    await service.personalData.forget('4711');
    expect(await service.invoke(request)).to.have.nested.property('error.code', UNKNOWN);
    expect(runs).to.have.length(1);
    const left = await Promise.all((await driver.list([])).map((path) => driver.read(path)));
    expect(JSON.stringify(left)).not.to.match(/4711|"V"|task-1/);
    expect(await service.ledger.get(callId)).to.equal(undefined);
    expect(await service.ledger.recent({ limit: 5 })).to.deep.equal([]);
  });

  it('leaves nothing once it is old, forgotten or not', async () => {
    const { driver, open } = openProcesses();
    const { service, clock } = open();
    await service.invoke(request);
    await service.personalData.forget(alice.userId);
    await service.invoke({ ...request, key: 'another' });
    clock.advance(31 * 24 * 60 * 60 * 1000);
    await service.recover();
    expect(await driver.list([])).to.deep.equal([]);
  });

  it('is unknown when the process that ran it did not say how it ended', async () => {
    const { service, load } = openToolHarness();
    const run = () => {
      throw new CinnabarError(UNKNOWN, { tool: request.name });
    };
    service.tool(load('party'), recordingTool([], { run }));
    const outcome = await service.invoke(request);
    expect(outcome).to.have.nested.property('error.code', UNKNOWN);
    expect(await service.ledger.get(outcome.callId)).to.include({ state: 'unknown' });
    expect(await service.invoke(request)).to.deep.equal(outcome);
  });

  it('has not run when its key could not be written, and runs when it is asked for again', async () => {
    const { driver, runs, open } = openProcesses();
    const { service } = open();
    driver.failWrites(new Error('disk full'), 1, keyDocument);
    expect(await service.invoke(request)).to.include({ status: 'failed' });
    expect(runs).to.deep.equal([]);
    const next = open().service;
    await next.recover();
    expect(await next.invoke(request)).to.include({ status: 'done' });
    expect(await next.invoke(request)).to.include({ status: 'done' });
    expect(runs).to.have.length(1);
  });

  it('keeps its key when an earlier call of that key goes', async () => {
    const driver = createMemoryDriver();
    const store = ledgerStoreOn(driver);
    const row = { tool: 'roll', plugin: 'dice', origin: 'chat', input: {}, argumentsHash: 'abc', actor: alice };
    const times = { createdAt: 0, updatedAt: 0 };
    for (const id of ['1', '2']) {
      await store.save({ ...row, ...times, id, key: 'k#1', state: 'proposed' });
      await store.archive({ ...row, ...times, id, key: 'k#1', state: 'expired' });
    }
    await store.remove('1');
    expect(await store.byKey('k#1')).to.equal('2');
    await store.remove('2');
    expect(await store.byKey('k#1')).to.equal(undefined);
  });

  it('fails in words, and not with an exception, when the ledger cannot be read', async () => {
    const { driver, runs, open } = openProcesses();
    const read = async () => {
      throw new Error('the disk is gone');
    };
    const { service } = open({ ...driver, read });
    expect(await service.invoke(request)).to.include({ status: 'failed' });
    expect(runs).to.deep.equal([]);
  });
});
