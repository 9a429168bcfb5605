import type { Outcome, SettledOutcome } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, bob, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

/** A call that is held for a decision. */
async function heldCall(more: Parameters<typeof recordingTool>[1] = {}) {
  const shop = openToolHarness();
  const runs: unknown[] = [];
  const party = shop.load('party');
  const confirm = shop.load('confirm');
  const held = holdingInterceptor();
  shop.service.tool(party, recordingTool(runs, more));
  shop.service.intercept(confirm, held.interceptor);
  const outcome = await shop.service.invoke(request);
  const [call] = held.calls;
  const [next] = held.nexts;
  if (call === undefined || next === undefined) throw new Error('the call was not held');
  const stateOf = async () => (await shop.service.ledger.get(call.id))?.state;
  return { ...shop, runs, party, confirm, held, call, next, outcome, settled: settledOf(outcome), stateOf };
}

const settledOf = (outcome: Outcome): Promise<SettledOutcome> => {
  if (outcome.status !== 'deferred') throw new Error(`it was not deferred but ${outcome.status}`);
  return outcome.settled;
};

describe('a call that is held for a decision', () => {
  it('is deferred at once, pending in the ledger, and has not run', async () => {
    const { outcome, runs, stateOf } = await heldCall();
    expect(outcome).to.include({ status: 'deferred', note: 'Not run yet.' });
    expect(await stateOf()).to.equal('pending');
    expect(runs).to.deep.equal([]);
  });

  it('runs exactly the arguments that were shown, once approved', async () => {
    const { call, held, settled, runs, service } = await heldCall();
    expect(await call.approve(alice.userId)).to.equal(true);
    held.goOn();
    expect(await settled).to.include({ status: 'done' });
    expect(runs).to.deep.equal([call.input]);
    expect(await service.ledger.get(call.id)).to.deep.include({ state: 'done', decidedBy: alice.userId });
  });

  it('does not run before it is approved, however its interceptor tries', async () => {
    const { next, runs, stateOf } = await heldCall();
    expect(await next()).to.have.nested.property('error.code', 'CINNABAR_TOOL_STATE');
    expect(runs).to.deep.equal([]);
    expect(await stateOf()).to.equal('pending');
  });

  it('runs once, whatever number of approvals and calls of next', async () => {
    const { call, next, held, settled, runs } = await heldCall();
    const approvals = await Promise.all([call.approve('1'), call.approve('1'), call.approve('2')]);
    expect(approvals).to.deep.equal([true, false, false]);
    held.goOn();
    const results = await Promise.all([settled, next(), next()]);
    expect(new Set(results.map((result) => result.status))).to.deep.equal(new Set(['done']));
    expect(runs).to.have.length(1);
    expect(await next()).to.deep.include({ status: 'done', output: { added: 'V' } });
    expect(runs).to.have.length(1);
  });

  it('takes the first of two decisions that race', async () => {
    const { call, held, settled, runs } = await heldCall();
    expect(await Promise.all([call.deny('1', 'no'), call.approve('1'), call.expire('late')])).to.deep.equal([
      true,
      false,
      false,
    ]);
    held.goOn();
    expect(await settled).to.deep.equal({ status: 'denied', callId: call.id, reason: 'no' });
    expect(runs).to.deep.equal([]);
  });

  it('never runs after it has expired', async () => {
    const { call, held, settled, runs } = await heldCall();
    expect(await call.expire('nobody decided in time')).to.equal(true);
    expect(await call.approve('1')).to.equal(false);
    held.goOn();
    expect(await settled).to.include({ status: 'expired', reason: 'nobody decided in time' });
    expect(runs).to.deep.equal([]);
  });

  it('checks at execution that the requester may still do it', async () => {
    const { call, held, settled, runs, shutOut } = await heldCall();
    await call.approve(alice.userId);
    shutOut.add(alice.userId);
    held.goOn();
    expect(await settled).to.include({ status: 'denied' });
    expect(runs).to.deep.equal([]);
  });

  it('checks at execution that the approver may do it', async () => {
    const { call, held, settled, runs, shutOut } = await heldCall();
    shutOut.add(bob.userId);
    await call.approve(bob.userId);
    held.goOn();
    expect(await settled).to.include({ status: 'denied' });
    expect(runs).to.deep.equal([]);
  });

  it('is not run by a tool whose plugin has gone', async () => {
    const { call, held, settled, runs, party } = await heldCall();
    await call.approve(alice.userId);
    await party.scope.close();
    held.goOn();
    expect(await settled)
      .to.have.nested.property('error.message')
      .that.contains('its plugin is not running any more');
    expect(runs).to.deep.equal([]);
  });

  it('is run by the new version of a tool that was reloaded', async () => {
    const { call, held, settled, runs, party, service, load } = await heldCall();
    const newRuns: unknown[] = [];
    await call.approve(alice.userId);
    await party.scope.close();
    service.tool(load('party'), recordingTool(newRuns));
    held.goOn();
    expect(await settled).to.include({ status: 'done' });
    expect([runs, newRuns]).to.deep.equal([[], [call.input]]);
  });

  it('is not run by a new version that means something else', async () => {
    for (const [plugin, more] of [
      ['party', { risk: 'destructive' }],
      ['other', {}],
    ] as const) {
      const { call, held, settled, party, service, load } = await heldCall();
      const newRuns: unknown[] = [];
      await call.approve(alice.userId);
      await party.scope.close();
      service.tool(load(plugin), recordingTool(newRuns, more));
      held.goOn();
      expect(await settled)
        .to.have.nested.property('error.message')
        .that.contains('please ask again');
      expect(newRuns).to.deep.equal([]);
    }
  });

  it('expires when the plugin that held it stops, since no other can decide', async () => {
    const { held, settled, runs, confirm, stateOf, call } = await heldCall();
    await confirm.scope.close();
    expect(await stateOf()).to.equal('expired');
    expect(await call.approve(alice.userId)).to.equal(false);
    held.goOn();
    expect(await settled).to.include({ status: 'expired' });
    expect(runs).to.deep.equal([]);
  });

  it('does not run once the request was cancelled', async () => {
    const stop = new AbortController();
    const { service, load } = openToolHarness();
    const runs: unknown[] = [];
    const held = holdingInterceptor();
    service.tool(load('party'), recordingTool(runs));
    service.intercept(load('confirm'), held.interceptor);
    const outcome = await service.invoke({ ...request, signal: stop.signal });
    await held.calls[0]?.approve(alice.userId);
    stop.abort();
    held.goOn();
    expect(await settledOf(outcome)).to.include({ status: 'failed' });
    expect(runs).to.deep.equal([]);
  });

  it('cannot be held twice', async () => {
    const { call } = await heldCall();
    const error = await call.hold().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'CINNABAR_TOOL_STATE');
  });

  it('is decided apart from another of the same request', async () => {
    const { service, held, call, runs, settled } = await heldCall();
    const second = settledOf(await service.invoke({ ...request, arguments: { name: 'Jackie' } }));
    const [, other] = held.calls;
    expect(other?.id).not.to.equal(call.id);
    expect(other?.argumentsHash).not.to.equal(call.argumentsHash);
    await other?.deny(alice.userId, 'not him');
    held.goOn();
    expect(await second).to.include({ status: 'denied' });
    await call.approve(alice.userId);
    await held.nexts[0]?.();
    expect(runs).to.deep.equal([call.input]);
    expect(settled).to.be.a('promise');
  });
});
